//! Checksums of the fields that define a run, to detect silent data corruption: its position in a
//! study, its request and its status. See `digest` for the checksums of results.

use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::{FromRow, Row, SqliteConnection, query, query_as, sqlite::SqliteRow, types::Json};
use std::collections::BTreeSet;

/// `quote` distinguishes null from text, and separates the values.
const CONTENT: &str = "SELECT number, CAST(
        quote(number) || ',' || quote(status) || ',' || quote(study) || ',' || quote(step) || ',' || quote(repeat)
        || ',' || quote(retry_of) || ',' || quote(requested) || ',' || quote(sample_ms) || ',' || quote(resolved)
        || ',' || quote(locks) || ',' || quote(confirm) AS BLOB) AS content, run_sha256
    FROM runs JOIN run_details ON run = number WHERE number IN (SELECT value FROM json_each(?))";
/// Differs from every checksum.
const NEVER: [u8; 0] = [];

/// Whether a run matches its checksum.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Integrity {
    Intact,
    Damaged,
    /// A run of an earlier version has no checksum. It never gets one, because that would certify
    /// data that may already be damaged.
    Unknown,
}

pub(super) async fn integrity(
    connection: &mut SqliteConnection,
    run: u64,
) -> sqlx::Result<Integrity> {
    let row = read(connection, run).await?;
    Ok(row.map_or(Integrity::Unknown, |row| row.integrity()))
}

/// Which of the runs are damaged.
pub(super) async fn damaged(
    connection: &mut SqliteConnection,
    runs: &[u64],
) -> sqlx::Result<BTreeSet<u64>> {
    let mut rows = query_as::<_, Content>(CONTENT)
        .bind(Json(runs))
        .fetch(connection);
    let mut damaged = BTreeSet::new();
    while let Some(row) = rows.try_next().await? {
        if row.integrity() == Integrity::Damaged {
            damaged.insert(row.number);
        }
    }
    Ok(damaged)
}

/// Stores the checksum of a run that the transaction has inserted, or has changed after it was
/// intact.
pub(super) async fn store(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    match read(connection, run).await? {
        Some(row) => write(connection, run, &checksum(&row.content)).await,
        None => Ok(()),
    }
}

/// Marks a copy of a damaged run, whose own checksum would certify the damage.
pub(super) async fn store_damaged(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    write(connection, run, &NEVER).await
}

async fn write(connection: &mut SqliteConnection, run: u64, sha256: &[u8]) -> sqlx::Result<()> {
    query("UPDATE run_details SET run_sha256 = ? WHERE run = ?")
        .bind(sha256)
        .bind(run.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}

/// What the checksum of a run covers, and its stored checksum.
struct Content {
    number: u64,
    content: Vec<u8>,
    run_sha256: Option<Vec<u8>>,
}

impl FromRow<'_, SqliteRow> for Content {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            number: row.try_get("number")?,
            content: row.try_get("content")?,
            run_sha256: row.try_get("run_sha256")?,
        })
    }
}

impl Content {
    fn integrity(&self) -> Integrity {
        match &self.run_sha256 {
            Some(stored) if *stored == checksum(&self.content) => Integrity::Intact,
            Some(_) => Integrity::Damaged,
            None => Integrity::Unknown,
        }
    }
}

async fn read(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<Option<Content>> {
    let row = query_as(CONTENT).bind(Json([run]));
    row.fetch_optional(connection).await
}

fn checksum(content: &[u8]) -> Vec<u8> {
    Sha256::digest(content).to_vec()
}
