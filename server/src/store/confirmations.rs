//! Confirmations that data may be overwritten. Each is valid for one use.

use crate::store::{Store, keys::KeyUse, rows};
use anyhow::Result;
use sqlx::{SqliteConnection, sqlite::SqliteRow};
use std::{collections::BTreeSet, time::Duration};

/// Longer than confirmations remain valid.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a run or study was not created.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum CreateError {
    KeyUsed(KeyUse),
    /// This confirmation has already been used by another run.
    ConfirmationUsed(String),
}

/// Marks confirmations as used. Returns a confirmation that had already been used, if any.
pub(super) async fn mark_used(
    connection: &mut SqliteConnection,
    confirm: &[String],
    now_ms: u64,
) -> sqlx::Result<Option<String>> {
    let expired_ms = now_ms.saturating_sub(LIFETIME.as_millis() as u64);
    sqlx::query("DELETE FROM used_confirmations WHERE used_at_ms < ?")
        .bind(expired_ms.cast_signed())
        .execute(&mut *connection)
        .await?;
    // Steps with the same jobs share a code.
    for entry in BTreeSet::from_iter(confirm) {
        let inserted = sqlx::query(
            "INSERT OR IGNORE INTO used_confirmations (code, used_at_ms) VALUES (?, ?)",
        )
        .bind(entry)
        .bind(now_ms.cast_signed())
        .execute(&mut *connection)
        .await?;
        if inserted.rows_affected() == 0 {
            return Ok(Some(entry.clone()));
        }
    }
    Ok(None)
}

impl Store {
    /// Returns the confirmations of a run; empty if it overwrites only data that it owns.
    pub(crate) async fn confirmations(&self, run: u64) -> Result<Vec<String>> {
        let row = sqlx::query("SELECT confirm FROM run_details WHERE run = ?")
            .bind(run.cast_signed())
            .try_map(|row: SqliteRow| rows::json(&row, "confirm"))
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.flatten().unwrap_or_default())
    }
}
