//! Idempotency keys: the same key and the same request give the same run again.

use crate::store::Store;
use sqlx::{Sqlite, Transaction};
use std::time::Duration;

/// How long a key is remembered: longer than any client retries.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A key with the request that it was sent with.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// As sent.
    pub key: String,
    /// Of the call and its body.
    pub request_sha256: [u8; 32],
}

/// What is known about a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Claim {
    /// It is new.
    New,
    /// The same request came before, and something came of it that may be deleted since.
    Replayed {
        /// The run, or the first of the study.
        run: u64,
        /// The study.
        study: Option<u64>,
    },
    /// Another request came with it before.
    Reused,
}

impl Store {
    /// What is known about a key.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn claim(&self, key: &IdempotencyKey) -> anyhow::Result<Claim> {
        Ok(claim(&mut *self.readers.acquire().await?, key).await?)
    }
}

pub(crate) async fn claim(
    connection: &mut sqlx::SqliteConnection,
    key: &IdempotencyKey,
) -> sqlx::Result<Claim> {
    let row: Option<(Vec<u8>, i64, Option<i64>)> =
        sqlx::query_as("SELECT request_sha256, run, study FROM idempotency_keys WHERE key = ?")
            .bind(&key.key)
            .fetch_optional(connection)
            .await?;
    Ok(match row {
        None => Claim::New,
        Some((hash, run, study)) if hash == key.request_sha256 => Claim::Replayed {
            run: run.cast_unsigned(),
            study: study.map(i64::cast_unsigned),
        },
        Some(_) => Claim::Reused,
    })
}

/// Keeps a key with what came of it, and forgets keys that nobody retries with any more.
pub(crate) async fn remember(
    transaction: &mut Transaction<'_, Sqlite>,
    key: &IdempotencyKey,
    run: u64,
    study: Option<u64>,
    now_ms: u64,
) -> sqlx::Result<()> {
    let before = now_ms.saturating_sub(KEPT.as_millis() as u64).cast_signed();
    sqlx::query("DELETE FROM idempotency_keys WHERE created_at_ms < ?")
        .bind(before)
        .execute(&mut **transaction)
        .await?;
    sqlx::query("INSERT INTO idempotency_keys (key, request_sha256, run, study, created_at_ms) VALUES (?, ?, ?, ?, ?)")
        .bind(&key.key)
        .bind(&key.request_sha256[..])
        .bind(run.cast_signed())
        .bind(study.map(u64::cast_signed))
        .bind(now_ms.cast_signed())
        .execute(&mut **transaction)
        .await?;
    Ok(())
}
