//! What the server keeps, in one SQLite file. `store` and the rooms under it are the only ones that know SQL.
//!
//! One connection writes, a few read (WAL). A change of state is on the disk before anybody hears of it
//! (`synchronous=FULL`); samples are written in batches without waiting for the disk (`NORMAL`), so that keeping
//! them does not disturb what they measure: they survive the death of the server, and the next state change.
//! Not here: what may follow what (`runs`), how lists are asked for (`runs::filter`).

pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod open;
pub(crate) mod rows;
pub(crate) mod runs;
pub(crate) mod studies;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool};
use sqlx::{Connection, Sqlite, Transaction};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// How much a commit waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Durability {
    /// Until it is on the disk.
    Full,
    /// Until it would survive the death of this process.
    Process,
}

struct Writer {
    connection: SqliteConnection,
    options: SqliteConnectOptions,
    durability: Durability,
    /// A transaction was begun and has not come to its end: it failed (a full disk), or was dropped half-way. Nobody
    /// knows in which state the connection is then.
    open: bool,
}

impl Writer {
    async fn connect(options: SqliteConnectOptions) -> sqlx::Result<Self> {
        let connection = SqliteConnection::connect_with(&options).await?;
        Ok(Self {
            connection,
            options,
            durability: Durability::Full,
            open: false,
        })
    }

    async fn begin(&mut self, durability: Durability) -> sqlx::Result<Transaction<'_, Sqlite>> {
        if self.open {
            *self = Self::connect(self.options.clone()).await?;
        }
        if self.durability != durability {
            let pragma = match durability {
                Durability::Full => "PRAGMA synchronous = FULL",
                Durability::Process => "PRAGMA synchronous = NORMAL",
            };
            sqlx::query(pragma).execute(&mut self.connection).await?;
            self.durability = durability;
        }
        self.open = true;
        self.connection.begin_with("BEGIN IMMEDIATE").await
    }

    /// The transaction was committed.
    fn done(&mut self) {
        self.open = false;
    }
}

/// The database; clones share it.
#[derive(Clone)]
pub struct Store {
    writer: Arc<Mutex<Writer>>,
    readers: SqlitePool,
}

impl Store {
    async fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().await
    }

    /// Ends all connections, so that the write-ahead log is folded into the database.
    pub async fn close(&self) {
        self.readers.close().await;
        let mut writer = self.writer().await;
        // What is in the log is safe; the next start folds it in.
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&mut writer.connection)
            .await;
    }
}

/// A value as the JSON text of a column.
fn json<T: Serialize + ?Sized>(value: &T) -> anyhow::Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// The word of a unit variant, as it stands in JSON and in a column.
fn word<T: Serialize>(value: &T) -> anyhow::Result<String> {
    match serde_json::to_value(value)? {
        serde_json::Value::String(word) => Ok(word),
        other => anyhow::bail!("{other} is not a word"),
    }
}

/// The variant of a word.
fn from_word<T: DeserializeOwned>(word: &str) -> anyhow::Result<T> {
    Ok(serde_json::from_value(serde_json::Value::String(
        word.into(),
    ))?)
}
