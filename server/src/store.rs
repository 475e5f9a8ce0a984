//! SQLite database. SQL occurs only here and in the modules below.
//!
//! One connection writes, a few read (WAL). Status changes and reports are synced to disk
//! (`synchronous=FULL`). Samples are committed without a sync (`NORMAL`), so that storing them does
//! not disturb the measurement: they survive a crash of the server, and a power failure once the
//! next status change is committed.

pub(crate) mod backup;
mod chunks;
mod compaction;
pub(crate) mod confirmations;
mod digest;
pub(crate) mod entry;
pub(crate) mod events;
pub(crate) mod fault;
mod file;
pub(crate) mod filter;
pub(crate) mod keys;
pub(crate) mod list;
mod migrations;
pub(crate) mod new_run;
pub(crate) mod open;
mod purge;
pub(crate) mod rollups;
mod rows;
pub(crate) mod runs;
pub(crate) mod samples;
pub(crate) mod sessions;
pub(crate) mod studies;
pub(crate) mod study_steps;
pub(crate) mod update;

use crate::store::file::DatabaseFile;
use sqlx::{
    Connection, raw_sql,
    sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool},
};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// Handle of the database; clones share it.
#[derive(Clone)]
pub(crate) struct Store {
    /// `None` while a transaction owns the connection, and after a transaction without commit.
    writer: Arc<Mutex<Option<SqliteConnection>>>,
    writer_options: SqliteConnectOptions,
    file: DatabaseFile,
    readers: SqlitePool,
}

/// A write transaction. Dropping it without a commit closes its connection, which rolls back; the
/// next transaction connects again. This includes failed commits (full disk) and cancelled futures.
struct WriteTransaction<'a> {
    writer: MutexGuard<'a, Option<SqliteConnection>>,
    connection: SqliteConnection,
}

impl Store {
    /// Begins a transaction that is on disk when committed: it survives a power failure.
    async fn begin(&self) -> sqlx::Result<WriteTransaction<'_>> {
        self.begin_with("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
            .await
    }

    /// Begins a transaction that survives a crash of the server, but not a power failure.
    async fn begin_unsynced(&self) -> sqlx::Result<WriteTransaction<'_>> {
        self.begin_with("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")
            .await
    }

    async fn begin_with(&self, sql: &'static str) -> sqlx::Result<WriteTransaction<'_>> {
        let mut writer = self.writer.lock().await;
        self.file.check()?;
        let mut connection = match writer.take() {
            Some(connection) => connection,
            None => SqliteConnection::connect_with(&self.writer_options).await?,
        };
        raw_sql(sql).execute(&mut connection).await?;
        Ok(WriteTransaction { writer, connection })
    }

    /// # Errors
    /// Why nothing can be written, such as a read-only filesystem.
    pub(crate) async fn check_writable(&self) -> sqlx::Result<()> {
        self.begin().await?.commit().await
    }

    /// Closes all connections and moves the write-ahead log into the database file.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        if let Some(mut writer) = self.writer.lock().await.take() {
            // After a failure the log stays as it is, and the next start recovers it.
            let _ = raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")
                .execute(&mut writer)
                .await;
            let _ = writer.close().await;
        }
    }
}

impl WriteTransaction<'_> {
    async fn commit(mut self) -> sqlx::Result<()> {
        raw_sql("COMMIT").execute(&mut self.connection).await?;
        *self.writer = Some(self.connection);
        Ok(())
    }
}
