//! Checksums of baselines, to detect silent data corruption. See `run_digest` for checksums of
//! runs.

use crate::store::run_digest::Integrity;
use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection, query, sqlite::SqliteRow};

/// Selects baselines, with the bytes that their checksums cover. `quote` distinguishes null from
/// text; commas separate the values.
pub(super) const SELECT: &str = "SELECT *, CAST(quote(job_fingerprint) || ',' || quote(machine_fingerprint) || ',' || quote(runs)
        || ',' || quote(threshold_percent) || ',' || quote(pinned_at_ms) AS BLOB) AS content FROM baselines";

/// Stored for damaged data. It never matches a real checksum.
const NEVER: [u8; 0] = [];

pub(super) fn integrity(row: &SqliteRow) -> sqlx::Result<Integrity> {
    let stored: Option<&[u8]> = row.try_get("sha256")?;
    let content: &[u8] = row.try_get("content")?;
    let is_stored: bool = row.try_get("has_checksum")?;
    Ok(match stored {
        Some(stored) if stored == checksum(content) => Integrity::Intact,
        None if !is_stored => Integrity::Unknown,
        _ => Integrity::Damaged,
    })
}

/// Stores the checksum of a baseline that the transaction has inserted.
pub(super) async fn store(
    connection: &mut SqliteConnection,
    job: &str,
    machine: &str,
) -> sqlx::Result<()> {
    update(connection, job, machine, Integrity::Intact).await
}

/// Stores the checksum of a baseline that the transaction has changed. `before`: whether the
/// baseline was intact. A damaged baseline stays damaged, because a new checksum would make it look
/// intact.
pub(super) async fn update(
    connection: &mut SqliteConnection,
    job: &str,
    machine: &str,
    before: Integrity,
) -> sqlx::Result<()> {
    let of_series = "WHERE job_fingerprint = ? AND machine_fingerprint = ?";
    let sha256 = match before {
        Integrity::Unknown => return Ok(()),
        Integrity::Damaged => NEVER.to_vec(),
        Integrity::Intact => {
            let row = query(sqlx::AssertSqlSafe(format!("{SELECT} {of_series}")))
                .bind(job)
                .bind(machine)
                .fetch_one(&mut *connection)
                .await?;
            checksum(row.try_get("content")?).to_vec()
        }
    };
    let set = format!("UPDATE baselines SET sha256 = ?, has_checksum = 1 {of_series}");
    query(sqlx::AssertSqlSafe(set))
        .bind(sha256)
        .bind(job)
        .bind(machine)
        .execute(connection)
        .await?;
    Ok(())
}

fn checksum(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

#[cfg(test)]
mod tests {
    use super::SELECT;
    use crate::store::migrations;
    use sqlx::{Connection, SqliteConnection, query_scalar};

    #[tokio::test]
    async fn the_checksum_covers_all_columns() {
        let mut database = SqliteConnection::connect(":memory:").await.unwrap();
        migrations::run(&mut database).await.unwrap();
        let sql = "SELECT name FROM pragma_table_info('baselines') WHERE name NOT IN ('sha256', 'has_checksum')";
        let columns: Vec<String> = query_scalar(sql).fetch_all(&mut database).await.unwrap();
        assert!(columns.len() >= 5);
        for column in columns {
            assert!(SELECT.contains(&format!("quote({column})")), "{column}");
        }
    }
}
