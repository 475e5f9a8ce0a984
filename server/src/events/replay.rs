//! Stores events that a previous server process could not store.

use crate::{
    events::spool::Header,
    store::{Store, fault::StoreFault, update::Record},
};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, BufReader},
};

/// Number of records per transaction.
const BATCH: usize = 64;
/// File name extension of spool files.
const SUFFIX: &str = "ndjson";

/// Stores and removes all spool files. Must be called before any run is changed.
///
/// # Errors
/// The database does not accept writes. Files with invalid records are not an error: they are
/// renamed and kept.
pub(crate) async fn replay(store: &Store) -> Result<()> {
    for path in spool_files(store.spool_dir())? {
        match replay_file(store, &path).await {
            Ok(()) => tokio::fs::remove_file(&path).await?,
            Err(error) if StoreFault::from_error(&error).is_some() => {
                return Err(error).with_context(|| {
                    format!(
                        "cannot store the events in {}. Restart the server when the database accepts writes",
                        path.display()
                    )
                });
            }
            Err(error) => {
                let rejected = path.with_extension("rejected");
                tracing::error!(
                    "cannot store the events of a previous server, keeping them in {}: {error:#}",
                    rejected.display()
                );
                tokio::fs::rename(&path, &rejected).await?;
            }
        }
    }
    Ok(())
}

fn spool_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let Ok(files) = std::fs::read_dir(directory) else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for file in files {
        let path = file?.path();
        if path.extension().is_some_and(|suffix| suffix == SUFFIX) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

async fn replay_file(store: &Store, path: &Path) -> Result<()> {
    let mut lines = BufReader::new(File::open(path).await?).split(b'\n');
    let Some(first) = lines.next_segment().await? else {
        return Ok(());
    };
    // The server crashed while writing the header.
    let Ok(header) = serde_json::from_slice::<Header>(&first) else {
        return Ok(());
    };
    ensure!(
        header.database == store.id(),
        "it belongs to database {}",
        header.database
    );
    let mut records: Vec<Record> = Vec::new();
    let mut stored = 0;
    while let Some(line) = lines.next_segment().await? {
        // The server crashed while writing the last line.
        let Ok(record) = serde_json::from_slice(&line) else {
            break;
        };
        records.push(record);
        if records.len() == BATCH {
            store.store_records(header.run, &records).await?;
            stored += records.len();
            records.clear();
        }
    }
    if !records.is_empty() {
        store.store_records(header.run, &records).await?;
    }
    stored += records.len();
    tracing::warn!(
        run = header.run,
        records = stored,
        "stored events spooled by a previous server"
    );
    Ok(())
}
