//! Checksums of stored results, to detect silent data corruption.

use crate::store::run_digest;
use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection, query, sqlite::SqliteRow, types::Json};
use std::collections::BTreeSet;

/// Columns to select: the data that the result checksums cover, and the stored checksums.
const CONTENT: &str = "SELECT run, CAST(report AS BLOB) AS report, CAST(run_details.verdict AS BLOB) AS verdict,
        CAST(findings AS BLOB) AS findings, result_sha256, summary_sha256, checksums,
        (SELECT CAST(line AS BLOB) FROM events WHERE events.run = run_details.run AND type = 'report' ORDER BY seq DESC LIMIT 1) AS line,
        iops, bytes_per_second, lat_p50_ns, lat_p99_ns, lat_max_ns, CAST(runs.verdict AS BLOB) AS class
    FROM run_details JOIN runs ON number = run
    WHERE run IN (SELECT value FROM json_each(?)) AND (report IS NOT NULL OR result_sha256 IS NOT NULL OR checksums & 6)";

/// Separator between hashed strings, which never contain this byte.
const SEPARATOR: [u8; 1] = [0];

/// A SHA-256 checksum.
type Checksum = [u8; 32];

/// Bits in the `checksums` column.
const RESULT_BIT: i64 = 2;
const SUMMARY_BIT: i64 = 4;

/// Checksums computed from the current results, and the stored checksums.
struct Checksums {
    /// Covers the run's report, verdict and findings, and the event with the same content.
    result: ChecksumPair,
    /// Covers the result columns of the `runs` table, which are shown in lists.
    summary: ChecksumPair,
}

struct ChecksumPair {
    now: Checksum,
    stored: Option<Vec<u8>>,
    /// Whether a checksum has ever been stored; it may have been removed since.
    is_stored: bool,
}

/// Stores checksums of the results that the transaction has written.
pub(super) async fn store(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    if let Some(checksums) = read(connection, run).await? {
        query("UPDATE run_details SET result_sha256 = ?, summary_sha256 = ?, checksums = checksums | 6 WHERE run = ?")
            .bind(&checksums.result.now[..])
            .bind(&checksums.summary.now[..])
            .bind(run.cast_signed())
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Whether a run or its result does not match its checksums. Data without checksums is not checked.
pub(super) async fn is_damaged(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<bool> {
    Ok(!find_damaged(connection, &[run]).await?.is_empty())
}

/// Returns the runs that do not match their checksums, or whose results do not.
pub(super) async fn find_damaged(
    connection: &mut SqliteConnection,
    runs: &[u64],
) -> sqlx::Result<BTreeSet<u64>> {
    let mut damaged = run_digest::find_damaged(connection, runs).await?;
    let mut rows = query(CONTENT).bind(Json(runs)).fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let found = Checksums::new(&row)?;
        if found.result.differs() || found.summary.differs() {
            damaged.insert(row.try_get("run")?);
        }
    }
    Ok(damaged)
}

impl ChecksumPair {
    fn differs(&self) -> bool {
        match &self.stored {
            Some(stored) => *stored != self.now,
            None => self.is_stored,
        }
    }
}

/// Returns `None` if there is no result.
async fn read(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<Option<Checksums>> {
    let row = query(CONTENT).bind(Json([run]));
    let row = row.fetch_optional(connection).await?;
    row.map(|row| Checksums::new(&row)).transpose()
}

impl Checksums {
    fn new(row: &SqliteRow) -> sqlx::Result<Self> {
        let checksums: i64 = row.try_get("checksums")?;
        let compared = |now, column, bit| {
            Ok::<_, sqlx::Error>(ChecksumPair {
                now,
                stored: row.try_get(column)?,
                is_stored: checksums & bit != 0,
            })
        };
        Ok(Self {
            result: compared(result(row)?, "result_sha256", RESULT_BIT)?,
            summary: compared(summary(row)?, "summary_sha256", SUMMARY_BIT)?,
        })
    }
}

fn result(row: &SqliteRow) -> sqlx::Result<Checksum> {
    let mut digest = Sha256::new();
    for column in ["report", "verdict", "findings", "line"] {
        let bytes: Option<&[u8]> = row.try_get(column)?;
        digest.update(bytes.unwrap_or_default());
        digest.update(SEPARATOR);
    }
    Ok(digest.finalize().into())
}

fn summary(row: &SqliteRow) -> sqlx::Result<Checksum> {
    let mut digest = Sha256::new();
    for column in ["iops", "bytes_per_second"] {
        let value: Option<f64> = row.try_get(column)?;
        add(&mut digest, value.map(f64::to_le_bytes));
    }
    for column in ["lat_p50_ns", "lat_p99_ns", "lat_max_ns"] {
        let value: Option<i64> = row.try_get(column)?;
        add(&mut digest, value.map(i64::to_le_bytes));
    }
    let class: Option<&[u8]> = row.try_get("class")?;
    digest.update(class.unwrap_or_default());
    Ok(digest.finalize().into())
}

/// Hashes a number, distinguishing null from zero.
fn add(digest: &mut Sha256, value: Option<[u8; 8]>) {
    digest.update([u8::from(value.is_some())]);
    digest.update(value.unwrap_or_default());
}
