//! Holds a run's records until the database accepts writes: in a file in the data directory, or in
//! bounded memory if the disk is full.
//!
//! The file `spool/run-N.ndjson` contains a header and one record per line. It survives a server
//! crash; the next server process stores its records (`replay`).

use crate::store::{Store, update::Record};
use anyhow::{Context, Result};
use leadline_protocol::status::RunStatus;
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    io::{ErrorKind, SeekFrom},
    path::PathBuf,
};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncSeekExt, AsyncWriteExt, BufReader},
};

/// Maximum size of the records in memory, in bytes.
const MAX_MEMORY: usize = 32 * 1024 * 1024;
/// Estimated size of a rollup in memory, in bytes.
const ROLLUP_BYTES: usize = 8 * 1024;

/// First line of the file.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Header {
    /// Database ID.
    pub database: String,
    pub run: u64,
}

/// Records in the file are older than records in memory.
pub(crate) struct Spool {
    path: PathBuf,
    header: Header,
    file: Option<SpoolFile>,
    memory: VecDeque<Record>,
    memory_bytes: usize,
}

struct SpoolFile {
    file: File,
    /// Offset of the first record that is not in the database.
    start: u64,
    /// End offset of the last complete record.
    end: u64,
}

/// A batch of the oldest records, from the file or from memory.
pub(super) struct Batch {
    pub records: Vec<Record>,
    /// End offset of these records in the file; `None` if they come from memory.
    end: Option<u64>,
}

impl Spool {
    pub(crate) fn new(run: u64, store: &Store) -> Self {
        let header = Header {
            database: store.id().into(),
            run,
        };
        Self {
            path: store.spool_dir().join(format!("run-{run}.ndjson")),
            header,
            file: None,
            memory: VecDeque::new(),
            memory_bytes: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.file.is_none() && self.memory.is_empty()
    }

    pub(super) async fn push(&mut self, record: Record) {
        // The event that starts a run is kept only in memory. If the server crashes, the next
        // server process starts the run, so nothing is lost.
        let is_start = record
            .update
            .as_ref()
            .is_some_and(|update| update.from == RunStatus::Queued);
        if self.memory.is_empty() && !is_start {
            match self.append(&record).await {
                Ok(()) => return,
                Err(error) => {
                    let run = self.header.run;
                    tracing::error!(
                        run,
                        "cannot spool events, keeping them in memory: {error:#}"
                    );
                }
            }
        }
        self.memory_bytes += bytes(&record);
        self.memory.push_back(record);
        self.limit_memory();
    }

    /// Appends a record to the file. A record with an update is synced to disk.
    async fn append(&mut self, record: &Record) -> Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        if self.file.is_none() {
            self.file = Some(self.create().await?);
        }
        let spool = self.file.as_mut().context("the file is open")?;
        let written = spool.write(&line, record.update.is_some()).await;
        if written.is_err() && spool.start == spool.end {
            // The file contains no complete record.
            self.remove_file().await;
        }
        Ok(written?)
    }

    async fn create(&self) -> Result<SpoolFile> {
        if let Some(directory) = self.path.parent() {
            tokio::fs::create_dir_all(directory).await?;
        }
        let file = tokio::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&self.path)
            .await?;
        tracing::warn!(
            run = self.header.run,
            "spooling events in {}",
            self.path.display()
        );
        let mut line = serde_json::to_vec(&self.header)?;
        line.push(b'\n');
        let mut spool = SpoolFile {
            file,
            start: 0,
            end: 0,
        };
        let written = spool.write(&line, false).await;
        spool.start = spool.end;
        if written.is_err() {
            let _ = tokio::fs::remove_file(&self.path).await;
        }
        written?;
        Ok(spool)
    }

    /// Takes the oldest records. The caller must remove them or put them back.
    pub(super) async fn take(&mut self, limit: usize) -> Result<Batch> {
        if let Some(spool) = &mut self.file {
            return spool.read(limit).await;
        }
        let limit = limit.min(self.memory.len());
        Ok(Batch {
            records: self.memory.drain(..limit).collect(),
            end: None,
        })
    }

    pub(super) fn put_back(&mut self, batch: Batch) {
        if batch.end.is_none() {
            for record in batch.records.into_iter().rev() {
                self.memory.push_front(record);
            }
        }
    }

    /// Removes records that have been stored.
    pub(super) async fn remove(&mut self, batch: Batch) {
        match (&mut self.file, batch.end) {
            (Some(spool), Some(end)) if end < spool.end => spool.start = end,
            (Some(_), Some(_)) => self.remove_file().await,
            _ => {
                let removed: usize = batch.records.iter().map(bytes).sum();
                self.memory_bytes = self.memory_bytes.saturating_sub(removed);
            }
        }
    }

    /// If this fails, the next server process skips the records that are already stored.
    async fn remove_file(&mut self) {
        self.file = None;
        match tokio::fs::remove_file(&self.path).await {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::warn!("cannot remove {}: {error}", self.path.display());
            }
            _ => {}
        }
    }

    /// Removes every other sample's data until the records fit. Keeps all other events.
    fn limit_memory(&mut self) {
        while self.memory_bytes > MAX_MEMORY {
            let before = self.memory_bytes;
            remove_samples(&mut self.memory);
            self.memory_bytes = self.memory.iter().map(bytes).sum();
            let run = self.header.run;
            tracing::warn!(run, "dropped samples that could not be stored");
            if self.memory_bytes >= before {
                return;
            }
        }
    }
}

impl SpoolFile {
    /// Appends a line. On error, the file is truncated to its previous length.
    async fn write(&mut self, line: &[u8], sync: bool) -> std::io::Result<()> {
        let written = self.try_write(line, sync).await;
        match written {
            Ok(()) => self.end += line.len() as u64,
            Err(_) => drop(self.file.set_len(self.end).await),
        }
        written
    }

    async fn try_write(&mut self, line: &[u8], sync: bool) -> std::io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end)).await?;
        self.file.write_all(line).await?;
        self.file.flush().await?;
        if sync {
            self.file.sync_data().await?;
        }
        Ok(())
    }

    async fn read(&mut self, limit: usize) -> Result<Batch> {
        self.file.seek(SeekFrom::Start(self.start)).await?;
        let mut reader = BufReader::new(&mut self.file);
        let mut records = Vec::new();
        let mut end = self.start;
        let mut line = Vec::new();
        while records.len() < limit && end < self.end {
            line.clear();
            end += reader.read_until(b'\n', &mut line).await? as u64;
            records.push(serde_json::from_slice(&line)?);
        }
        Ok(Batch {
            records,
            end: Some(end),
        })
    }
}

fn bytes(record: &Record) -> usize {
    let lines = record.entries.iter().map(|entry| entry.line.len());
    lines.sum::<usize>() + record.rollups.len() * ROLLUP_BYTES
}

/// Removes every other sample's data, and the rollups of records that then contain neither a sample
/// nor an update.
fn remove_samples(records: &mut VecDeque<Record>) {
    let mut is_removed = false;
    for record in records {
        for entry in record.entries.iter_mut().filter(|entry| entry.is_sample()) {
            is_removed = !is_removed;
            if is_removed {
                entry.remove_sample();
            }
        }
        let has_sample = record.entries.iter().any(|entry| entry.is_sample());
        if record.update.is_none() && !has_sample {
            record.rollups.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn spool(directory: &Path) -> Spool {
        let header = Header {
            database: "d".into(),
            run: 1,
        };
        Spool {
            path: directory.join("spool/run-1.ndjson"),
            header,
            file: None,
            memory: VecDeque::new(),
            memory_bytes: 0,
        }
    }

    fn record(seq: u64, kind: &str, bytes: usize) -> Record {
        let pad = "x".repeat(bytes);
        let line = format!(r#"{{"seq":{seq},"t_ms":1.5,"type":"{kind}","pad":"{pad}"}}"#);
        Record {
            entries: vec![line.try_into().unwrap()],
            rollups: Vec::new(),
            update: None,
        }
    }

    fn sequence_numbers(records: &[Record]) -> Vec<u64> {
        let entries = records.iter().flat_map(|record| &record.entries);
        entries.map(|entry| entry.seq).collect()
    }

    #[tokio::test]
    async fn file_keeps_records_until_they_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = spool(directory.path());
        for seq in 0..3 {
            spool.push(record(seq, "sample", 10)).await;
        }
        assert!(spool.path.exists() && spool.memory.is_empty());
        let batch = spool.take(2).await.unwrap();
        assert_eq!(sequence_numbers(&batch.records), [0, 1]);
        spool.put_back(batch);
        let batch = spool.take(2).await.unwrap();
        assert_eq!(sequence_numbers(&batch.records), [0, 1]);
        spool.remove(batch).await;
        spool.push(record(3, "sample", 10)).await;
        let batch = spool.take(9).await.unwrap();
        assert_eq!(sequence_numbers(&batch.records), [2, 3]);
        assert!(!spool.is_empty());
        spool.remove(batch).await;
        assert!(spool.is_empty() && !spool.path.exists());
    }

    #[tokio::test]
    async fn only_sample_data_is_dropped_from_memory() {
        // Directories cannot be created in `/proc`.
        let mut spool = spool(Path::new("/proc/self"));
        spool.push(record(0, "report", MAX_MEMORY / 4)).await;
        for seq in 1..200 {
            spool.push(record(seq, "sample", MAX_MEMORY / 64)).await;
        }
        assert!(spool.memory_bytes <= MAX_MEMORY);
        let first = spool.take(100).await.unwrap();
        assert_eq!(
            sequence_numbers(&first.records),
            (0..100).collect::<Vec<_>>()
        );
        spool.put_back(first);
        let all = spool.take(1000).await.unwrap();
        assert_eq!(sequence_numbers(&all.records), (0..200).collect::<Vec<_>>());
        assert!(all.records[0].entries[0].line.len() > MAX_MEMORY / 4);
        let samples = all
            .records
            .iter()
            .filter(|record| record.entries[0].is_sample());
        assert!((10..64).contains(&samples.count()));
        spool.remove(all).await;
        assert!(spool.is_empty());
        assert_eq!(spool.memory_bytes, 0);
    }
}
