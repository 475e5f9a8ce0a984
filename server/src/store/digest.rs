//! Checksums of stored results: a disk that returns other data must not change a number unnoticed.

use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

/// Between the texts, which contain no such byte.
const SEPARATOR: [u8; 1] = [0];

/// Stores the checksum of what the transaction has written: report, verdict and findings of the run,
/// and the line of the event with the same content.
pub(super) async fn store(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    if let Some((digest, _)) = read(connection, run).await? {
        sqlx::query("UPDATE run_details SET result_sha256 = ? WHERE run = ?")
            .bind(&digest[..])
            .bind(run.cast_signed())
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Whether a result differs from its checksum. Results without one are not checked.
pub(super) async fn is_damaged(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<bool> {
    let found = read(connection, run).await?;
    Ok(found.is_some_and(|(digest, stored)| stored.is_some_and(|stored| stored != digest)))
}

/// The checksum of the result as it is now, and the stored one; `None` without a result.
async fn read(
    connection: &mut SqliteConnection,
    run: u64,
) -> sqlx::Result<Option<([u8; 32], Option<Vec<u8>>)>> {
    let row = sqlx::query(
        "SELECT CAST(report AS BLOB) AS report, CAST(verdict AS BLOB) AS verdict,
             CAST(findings AS BLOB) AS findings, result_sha256,
             (SELECT CAST(line AS BLOB) FROM events WHERE run = ?1 AND type = 'report' ORDER BY seq DESC LIMIT 1) AS line
         FROM run_details WHERE run = ?1 AND (report IS NOT NULL OR result_sha256 IS NOT NULL)",
    )
    .bind(run.cast_signed())
    .fetch_optional(connection)
    .await?;
    row.map(|row| Ok((digest(&row)?, row.try_get("result_sha256")?)))
        .transpose()
}

fn digest(row: &SqliteRow) -> sqlx::Result<[u8; 32]> {
    let mut digest = Sha256::new();
    for column in ["report", "verdict", "findings", "line"] {
        let bytes: Option<&[u8]> = row.try_get(column)?;
        digest.update(bytes.unwrap_or_default());
        digest.update(SEPARATOR);
    }
    Ok(digest.finalize().into())
}
