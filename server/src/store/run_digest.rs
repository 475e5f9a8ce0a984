//! Checksums of the fields that define a run, to detect silent data corruption. See `digest` for
//! the checksums of results.

use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::{FromRow, Row, SqliteConnection, query, query_as, sqlite::SqliteRow, types::Json};
use std::collections::BTreeSet;

/// A checksum of some of a run's columns.
pub(super) struct RunChecksum {
    select: &'static str,
    update: &'static str,
}

/// `quote` distinguishes null from text; commas separate the values. Every run has a row in
/// `run_details`; a run without one is damaged.
macro_rules! run_checksum {
    ($column:literal, $bit:literal, $first:literal $(, $covered:literal)+ $(,)?) => {
        RunChecksum {
            select: concat!(
                "SELECT number, CAST(quote(", $first, ")", $( " || ',' || quote(", $covered, ")", )+
                " AS BLOB) AS content, ", $column, " AS sha256, coalesce(checksums & ", $bit, ", TRUE) AS is_stored
                 FROM runs LEFT JOIN run_details ON run = number WHERE number IN (SELECT value FROM json_each(?))"
            ),
            update: concat!(
                "UPDATE run_details SET ", $column, " = ?, checksums = checksums | ", $bit, " WHERE run = ?"
            ),
        }
    };
}

/// Covers the run's position in its study, its request and its status. Verified before a
/// transaction changes any of them.
pub(super) const REQUEST: RunChecksum = run_checksum!(
    "run_sha256",
    "1",
    "number",
    "status",
    "study",
    "step",
    "repeat",
    "retry_of",
    "requested",
    "sample_ms",
    "resolved",
    "locks",
    "confirm",
);

/// Covers all other fields that do not change after the run has ended, including the other
/// checksums. Names, tags, notes and annotations are not covered, because users may change them.
pub(super) const FINAL: RunChecksum = run_checksum!(
    "final_sha256",
    "8",
    "number",
    "reason",
    "source",
    "host",
    "created_at_ms",
    "started_at_ms",
    "finished_at_ms",
    "jobs",
    "mode",
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "direct",
    "device",
    "target",
    "job_fingerprint",
    "host_fingerprint",
    "machine_fingerprint",
    "host_facts",
    "measure_ms",
    "failure",
    "run_sha256",
    "result_sha256",
    "summary_sha256",
    "checksums & 7",
);

/// Stored for damaged data. It never matches a real checksum.
const NEVER: [u8; 0] = [];

/// Whether a run matches a checksum.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Integrity {
    Intact,
    Damaged,
    /// Runs from earlier versions have no checksum. Never add one: it would make data that may
    /// already be damaged look intact.
    Unknown,
}

/// Returns the runs that are damaged.
pub(super) async fn find_damaged(
    connection: &mut SqliteConnection,
    runs: &[u64],
) -> sqlx::Result<BTreeSet<u64>> {
    let mut damaged = REQUEST.find_damaged(connection, runs).await?;
    damaged.extend(FINAL.find_damaged(connection, runs).await?);
    Ok(damaged)
}

impl RunChecksum {
    pub(super) async fn integrity(
        &self,
        connection: &mut SqliteConnection,
        run: u64,
    ) -> sqlx::Result<Integrity> {
        let row = self.read(connection, run).await?;
        Ok(row.map_or(Integrity::Unknown, |row| row.integrity()))
    }

    async fn find_damaged(
        &self,
        connection: &mut SqliteConnection,
        runs: &[u64],
    ) -> sqlx::Result<BTreeSet<u64>> {
        let mut rows = query_as::<_, Content>(self.select)
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

    /// Stores the checksum of columns that the transaction has inserted, or verified and then
    /// changed.
    pub(super) async fn store(
        &self,
        connection: &mut SqliteConnection,
        run: u64,
    ) -> sqlx::Result<()> {
        match self.read(connection, run).await? {
            Some(row) => self.write(connection, run, &checksum(&row.content)).await,
            None => Ok(()),
        }
    }

    /// Marks a copy of a damaged run as damaged. A new checksum would make it look intact.
    pub(super) async fn store_damaged(
        &self,
        connection: &mut SqliteConnection,
        run: u64,
    ) -> sqlx::Result<()> {
        self.write(connection, run, &NEVER).await
    }

    async fn write(
        &self,
        connection: &mut SqliteConnection,
        run: u64,
        sha256: &[u8],
    ) -> sqlx::Result<()> {
        query(self.update)
            .bind(sha256)
            .bind(run.cast_signed())
            .execute(connection)
            .await?;
        Ok(())
    }

    async fn read(
        &self,
        connection: &mut SqliteConnection,
        run: u64,
    ) -> sqlx::Result<Option<Content>> {
        let row = query_as(self.select).bind(Json([run]));
        row.fetch_optional(connection).await
    }
}

/// Data covered by a checksum, and the stored checksum.
struct Content {
    number: u64,
    content: Vec<u8>,
    sha256: Option<Vec<u8>>,
    is_stored: bool,
}

impl FromRow<'_, SqliteRow> for Content {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            number: row.try_get("number")?,
            content: row.try_get("content")?,
            sha256: row.try_get("sha256")?,
            is_stored: row.try_get::<i64, _>("is_stored")? != 0,
        })
    }
}

impl Content {
    fn integrity(&self) -> Integrity {
        match &self.sha256 {
            Some(stored) if *stored == checksum(&self.content) => Integrity::Intact,
            None if !self.is_stored => Integrity::Unknown,
            _ => Integrity::Damaged,
        }
    }
}

fn checksum(content: &[u8]) -> Vec<u8> {
    Sha256::digest(content).to_vec()
}
