//! Opening the database: refused untouched when it is newer or somebody else's, brought up to date when it is older.

use crate::store::{Store, Writer};
use sqlx::Connection;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions,
    SqliteSynchronous,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// The `user_version` that the newest migration sets.
const VERSION: i64 = 4;
/// "Lead" in ASCII, set by the first migration.
const APPLICATION_ID: i64 = 0x4C65_6164;
/// Enough for a page with all its charts; more would only queue for the two or three cores that are not measuring.
const READERS: u32 = 4;
/// How long one connection waits for another: readers never block, so this is only met during a checkpoint.
const BUSY: Duration = Duration::from_secs(5);

static MIGRATIONS: Migrator = sqlx::migrate!("../migrations");

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer program wrote it.
    #[error("{path} has version {found}, this program knows versions up to {known}: use a newer leadline, or another --data-dir. Nothing was changed", known = VERSION)]
    Newer {
        /// Where it is.
        path: String,
        /// Its version.
        found: i64,
    },
    /// Another program wrote it.
    #[error("{path} is a database of another program: use another --data-dir. Nothing was changed")]
    Foreign {
        /// Where it is.
        path: String,
    },
    /// It cannot be read, written or brought up to date.
    #[error("{path} cannot be used: {why}")]
    Unusable {
        /// Where it is.
        path: String,
        /// What went wrong.
        why: String,
    },
}

impl Store {
    /// Opens the database at `path`, or makes a new one.
    ///
    /// # Errors
    /// It is newer than this program, not ours, or cannot be used; it is then as it was.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        let shown = path.display().to_string();
        let unusable = |error: &dyn std::fmt::Display| OpenError::Unusable {
            path: shown.clone(),
            why: error.to_string(),
        };
        if path.exists() {
            let (version, application) = versions(path).await.map_err(|error| unusable(&error))?;
            refuse_strangers(&shown, version, application)?;
        }
        let mut writer = Writer::connect(writing(path))
            .await
            .map_err(|error| unusable(&error))?;
        MIGRATIONS
            .run(&mut writer.connection)
            .await
            .map_err(|error| unusable(&error))?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_with(reading(path))
            .await;
        Ok(Self {
            writer: Arc::new(Mutex::new(writer)),
            readers: readers.map_err(|error| unusable(&error))?,
        })
    }
}

fn refuse_strangers(path: &str, version: i64, application: i64) -> Result<(), OpenError> {
    // A file without either number is empty: SQLite makes it before the first migration is through.
    match (version, application) {
        (0, 0) => Ok(()),
        (_, other) if other != APPLICATION_ID => Err(OpenError::Foreign { path: path.into() }),
        (found, _) if found > VERSION => Err(OpenError::Newer {
            path: path.into(),
            found,
        }),
        _ => Ok(()),
    }
}

/// `user_version` and `application_id`, read without leaving a trace.
async fn versions(path: &Path) -> sqlx::Result<(i64, i64)> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // `immutable` makes no files beside the database, but would not see what is still in the log.
    let has_log = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .immutable(!has_log);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let version = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut connection)
        .await?;
    let application = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok((version, application))
}

fn common(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY)
        .pragma("mmap_size", (256 * 1024 * 1024).to_string())
        .pragma("cache_size", "-16384")
        .pragma("temp_store", "MEMORY")
}

fn writing(path: &Path) -> SqliteConnectOptions {
    common(path)
        .create_if_missing(true)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", (64 * 1024 * 1024).to_string())
}

fn reading(path: &Path) -> SqliteConnectOptions {
    common(path).read_only(true)
}
