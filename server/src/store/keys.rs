//! Idempotency keys.

use crate::store::Store;
use anyhow::Result;
use sqlx::SqliteConnection;
use std::time::Duration;

/// Longer than any client keeps retrying a request.
const KEY_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// An idempotency key and a hash of its request.
#[derive(Clone, Debug)]
pub(crate) struct IdempotencyKey {
    pub key: String,
    /// Hash of method, path and body.
    pub request_sha256: [u8; 32],
}

/// Earlier use of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum KeyUse {
    /// The same request was sent before. The run or study that it created may have been deleted.
    Replayed {
        /// The run that was created, or the first run of the study that was created.
        run: u64,
        study: Option<u64>,
    },
    /// The key was sent with a different request.
    Reused,
}

impl Store {
    /// Returns `None` if the key is new.
    pub(crate) async fn find_key(&self, key: &IdempotencyKey) -> Result<Option<KeyUse>> {
        Ok(find(&mut *self.readers.acquire().await?, key).await?)
    }
}

pub(super) async fn find(
    connection: &mut SqliteConnection,
    key: &IdempotencyKey,
) -> sqlx::Result<Option<KeyUse>> {
    let row: Option<(Vec<u8>, u64, Option<u64>)> =
        sqlx::query_as("SELECT request_sha256, run, study FROM idempotency_keys WHERE key = ?")
            .bind(&key.key)
            .fetch_optional(connection)
            .await?;
    Ok(row.map(|(hash, run, study)| {
        if hash == key.request_sha256 {
            KeyUse::Replayed { run, study }
        } else {
            KeyUse::Reused
        }
    }))
}

/// Stores a key and deletes expired ones.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    key: &IdempotencyKey,
    run: u64,
    study: Option<u64>,
    now_ms: u64,
) -> sqlx::Result<()> {
    let expired_ms = now_ms.saturating_sub(KEY_LIFETIME.as_millis() as u64);
    sqlx::query("DELETE FROM idempotency_keys WHERE created_at_ms < ?")
        .bind(expired_ms.cast_signed())
        .execute(&mut *connection)
        .await?;
    sqlx::query("INSERT INTO idempotency_keys (key, request_sha256, run, study, created_at_ms) VALUES (?, ?, ?, ?, ?)")
        .bind(&key.key)
        .bind(&key.request_sha256[..])
        .bind(run.cast_signed())
        .bind(study.map(u64::cast_signed))
        .bind(now_ms.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}
