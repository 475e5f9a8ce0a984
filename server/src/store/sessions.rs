//! Browser sessions. Only hashes of their secrets are stored.

use crate::store::Store;
use anyhow::Result;

/// SHA-256 of a secret.
pub(crate) type Digest = [u8; 32];

#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredSession {
    pub id: Digest,
    /// Hash of the token that opened the session.
    pub token: Digest,
    pub is_read_only: bool,
    /// Unix time in milliseconds.
    pub expires_at_ms: u64,
}

const READ: &str = "read";
const FULL: &str = "full";

impl Store {
    /// Deletes expired sessions and returns the remaining ones.
    pub(crate) async fn sessions(&self, now_ms: u64) -> Result<Vec<StoredSession>> {
        let mut transaction = self.begin().await?;
        sqlx::query("DELETE FROM sessions WHERE expires_at_ms <= ?")
            .bind(now_ms.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        let rows: Vec<(Vec<u8>, Vec<u8>, String, i64)> =
            sqlx::query_as("SELECT id_sha256, token_sha256, scope, expires_at_ms FROM sessions")
                .fetch_all(&mut transaction.connection)
                .await?;
        transaction.commit().await?;
        let sessions = rows.into_iter().filter_map(|(id, token, scope, expires)| {
            Some(StoredSession {
                id: id.try_into().ok()?,
                token: token.try_into().ok()?,
                is_read_only: scope != FULL,
                expires_at_ms: expires.cast_unsigned(),
            })
        });
        Ok(sessions.collect())
    }

    pub(crate) async fn add_session(&self, session: StoredSession) -> Result<()> {
        let mut transaction = self.begin().await?;
        sqlx::query("INSERT INTO sessions (id_sha256, token_sha256, scope, expires_at_ms) VALUES (?, ?, ?, ?)")
            .bind(&session.id[..])
            .bind(&session.token[..])
            .bind(if session.is_read_only { READ } else { FULL })
            .bind(session.expires_at_ms.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await
    }

    pub(crate) async fn remove_session(&self, id: Digest) -> Result<()> {
        let mut transaction = self.begin().await?;
        sqlx::query("DELETE FROM sessions WHERE id_sha256 = ?")
            .bind(&id[..])
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await
    }
}
