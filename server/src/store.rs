//! SQLite database. Only this module and its submodules contain SQL.
//!
//! There is one writer connection and a few reader connections (WAL). Status changes and reports
//! are synced to disk (`synchronous=FULL`). Samples are committed without a sync (`NORMAL`), so
//! storing them does not disturb the measurement. They survive a server crash, and they survive a
//! power failure once the next status change is committed.

pub(crate) mod annotations;
pub(crate) mod backup;
mod baseline_digest;
pub(crate) mod baselines;
mod chunks;
mod compaction;
pub(crate) mod confirmations;
pub(crate) mod deliveries;
mod digest;
pub(crate) mod event_reader;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod filter;
mod fingerprints;
pub(crate) mod foreign_results;
mod health;
pub(crate) mod interim_looks;
pub(crate) mod keys;
pub(crate) mod list;
mod location;
mod migrations;
pub(crate) mod new_run;
pub(crate) mod open;
mod partial_metrics;
mod purge;
pub(crate) mod retries;
pub(crate) mod rollups;
pub(crate) mod rows;
mod run_digest;
pub(crate) mod runs;
pub(crate) mod samples;
pub(crate) mod schedule_starts;
pub(crate) mod schedules;
mod schema;
pub(crate) mod sessions;
mod settings;
pub(crate) mod studies;
mod study_contents;
pub(crate) mod study_digest;
pub(crate) mod study_edits;
pub(crate) mod study_steps;
pub(crate) mod trend_states;
pub(crate) mod trends;
pub(crate) mod update;
mod watch;
pub(crate) mod webhooks;

use crate::store::health::Health;
use anyhow::Result;
use sqlx::{
    Connection, raw_sql,
    sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool},
};
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex as SyncMutex},
    time::Duration,
};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::timeout,
};

/// How long to wait for a transaction when closing.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// Database handle; clones share the database.
#[derive(Clone)]
pub(crate) struct Store {
    /// `None` while a transaction owns the connection, or after a transaction that was not
    /// committed.
    writer: Arc<Mutex<Option<SqliteConnection>>>,
    writer_options: SqliteConnectOptions,
    readers: SqlitePool,
    health: Arc<Health>,
    /// Database ID.
    id: Arc<str>,
    spool_dir: Arc<Path>,
    /// Ended runs whose checksums have been verified since the server started.
    verified: Arc<SyncMutex<BTreeSet<u64>>>,
}

/// A write transaction. Dropping it without a commit closes its connection, which rolls it back;
/// the next transaction opens a new connection. This covers failed commits (full disk) and
/// cancelled futures.
struct WriteTransaction<'a> {
    writer: MutexGuard<'a, Option<SqliteConnection>>,
    connection: SqliteConnection,
    health: &'a Health,
}

impl Store {
    /// Begins a transaction that is synced to disk on commit, and therefore survives a power
    /// failure.
    async fn begin(&self) -> Result<WriteTransaction<'_>> {
        self.begin_transaction("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
            .await
    }

    /// Begins a transaction that survives a server crash but not a power failure.
    async fn begin_unsynced(&self) -> Result<WriteTransaction<'_>> {
        self.begin_transaction("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")
            .await
    }

    async fn begin_transaction(&self, sql: &'static str) -> Result<WriteTransaction<'_>> {
        self.health.record_fault(self.try_begin(sql).await)
    }

    async fn try_begin(&self, sql: &'static str) -> Result<WriteTransaction<'_>> {
        let mut writer = self.writer.lock().await;
        self.health.file.check()?;
        let mut connection = match writer.take() {
            Some(connection) => connection,
            None => SqliteConnection::connect_with(&self.writer_options).await?,
        };
        raw_sql(sql).execute(&mut connection).await?;
        Ok(WriteTransaction {
            writer,
            connection,
            health: &self.health,
        })
    }

    /// Database ID.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Directory for events that could not be stored.
    pub(crate) fn spool_dir(&self) -> &Path {
        &self.spool_dir
    }

    /// Closes all connections and checkpoints the write-ahead log.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        // Do not wait forever: another process may have locked the database and blocked a
        // transaction.
        let Ok(mut writer) = timeout(LOCK_TIMEOUT, self.writer.lock()).await else {
            return;
        };
        if let Some(mut writer) = writer.take() {
            // On failure, the log stays in place, and the next start recovers it.
            let _ = raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")
                .execute(&mut writer)
                .await;
            let _ = writer.close().await;
        }
    }
}

impl WriteTransaction<'_> {
    /// # Errors
    /// Also fails if the database file was replaced before the changes were on disk.
    async fn commit(self) -> Result<()> {
        let health = self.health;
        let committed = health.record_fault(self.try_commit().await);
        if committed.is_ok() {
            health.clear();
        }
        committed
    }

    async fn try_commit(mut self) -> Result<()> {
        raw_sql("COMMIT").execute(&mut self.connection).await?;
        self.health.file.check()?;
        *self.writer = Some(self.connection);
        Ok(())
    }
}
