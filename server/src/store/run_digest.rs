//! Checksums of what a run is, to detect silent data corruption: its place in a study, its request
//! and its status. See `digest` for those of results.

use sha2::{Digest, Sha256};
use sqlx::{SqliteConnection, query, query_as};

/// `quote` distinguishes null from text, and separates the values.
const CONTENT: &str = "SELECT CAST(
        quote(number) || ',' || quote(status) || ',' || quote(study) || ',' || quote(step) || ',' || quote(repeat)
        || ',' || quote(retry_of) || ',' || quote(requested) || ',' || quote(sample_ms) || ',' || quote(resolved)
        || ',' || quote(locks) || ',' || quote(confirm) AS BLOB), run_sha256
    FROM runs JOIN run_details ON run = number WHERE number = ?";
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
    Ok(match read(connection, run).await? {
        Some((content, Some(stored))) if stored == checksum(&content) => Integrity::Intact,
        Some((_, Some(_))) => Integrity::Damaged,
        _ => Integrity::Unknown,
    })
}

/// Stores the checksum of a run that the transaction has inserted, or has changed after it was
/// intact.
pub(super) async fn store(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    match read(connection, run).await? {
        Some((content, _)) => write(connection, run, &checksum(&content)).await,
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

/// What the checksum covers, and the checksum.
type Row = (Vec<u8>, Option<Vec<u8>>);

async fn read(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<Option<Row>> {
    let row = query_as(CONTENT).bind(run.cast_signed());
    row.fetch_optional(connection).await
}

fn checksum(content: &[u8]) -> Vec<u8> {
    Sha256::digest(content).to_vec()
}
