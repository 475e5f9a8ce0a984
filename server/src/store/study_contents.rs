//! Records which runs and how many looks each study must have, to detect rows that other programs
//! have deleted. `study_digest` detects changed rows, and `run_digest` detects runs that were moved
//! to a study.

use crate::store::study_digest::{self, Damage, DamagedStudy, STUDIES};
use anyhow::Result;
use leadline_protocol::query::MAX_NUMBER;
use sqlx::{FromRow, Row, SqliteConnection, query, query_as, sqlite::SqliteRow, types::Json};
use std::collections::BTreeMap;

/// Must be a single statement to read a consistent state, because rows may be inserted and deleted
/// between statements.
const CONTENTS: &str =
    "SELECT value AS study, EXISTS (SELECT 1 FROM studies WHERE number = value) AS has_row,
        EXISTS (SELECT 1 FROM runs WHERE runs.study = value) AS has_runs,
        (SELECT looks FROM study_contents WHERE study_contents.study = value) AS expected_looks,
        (SELECT count(*) FROM study_looks WHERE study_looks.study = value) AS looks,
        (SELECT checksums FROM study_contents WHERE study_contents.study = value) AS expected_checksums,
        (SELECT count(sha256) FROM studies WHERE number = value)
            + (SELECT count(sha256) FROM study_looks WHERE study_looks.study = value) AS checksums,
        (SELECT min(run) FROM study_runs WHERE study_runs.study = value
         AND NOT EXISTS (SELECT 1 FROM runs WHERE number = run)) AS missing_run
    FROM json_each(?)";

struct Contents {
    study: u64,
    has_row: bool,
    has_runs: bool,
    expected_looks: Option<i64>,
    looks: i64,
    expected_checksums: Option<i64>,
    checksums: i64,
    missing_run: Option<u64>,
}

impl FromRow<'_, SqliteRow> for Contents {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            study: row.try_get("study")?,
            has_row: row.try_get("has_row")?,
            has_runs: row.try_get("has_runs")?,
            expected_looks: row.try_get("expected_looks")?,
            looks: row.try_get("looks")?,
            expected_checksums: row.try_get("expected_checksums")?,
            checksums: row.try_get("checksums")?,
            missing_run: row.try_get("missing_run")?,
        })
    }
}

impl Contents {
    fn damage(&self) -> Option<Damage> {
        let exists = self.has_row || self.has_runs || self.looks > 0;
        match self.expected_looks {
            None if !exists => None,
            _ if !self.has_row => Some(Damage::MissingRow),
            None => Some(Damage::MissingContents),
            Some(expected) if self.looks < expected => Some(Damage::MissingLook),
            Some(expected) if self.looks > expected => Some(Damage::ExtraLook),
            // Rows from earlier versions have no checksum.
            Some(_) if Some(self.checksums) < self.expected_checksums => {
                Some(Damage::MissingChecksum)
            }
            Some(_) => self.missing_run.map(Damage::MissingRun),
        }
    }
}

/// Returns the studies with missing rows or checksums, or with extra looks. Studies that never
/// existed, and studies that the server deleted, are not included.
pub(super) async fn find_damaged(
    connection: &mut SqliteConnection,
    studies: &[u64],
) -> sqlx::Result<BTreeMap<u64, Damage>> {
    // SQLite converts larger numbers in JSON to floating point. No study has such a number.
    let numbers = studies.iter().filter(|study| **study <= MAX_NUMBER);
    let contents: Vec<Contents> = query_as(CONTENTS)
        .bind(Json(numbers.collect::<Vec<_>>()))
        .fetch_all(connection)
        .await?;
    let damage = contents
        .iter()
        .map(|found| Some((found.study, found.damage()?)));
    Ok(damage.flatten().collect())
}

/// Checks one study. See `find_damaged`.
///
/// # Errors
/// `DamagedStudy` if rows or checksums of the study are missing, or if it has extra looks.
pub(super) async fn check(connection: &mut SqliteConnection, study: u64) -> Result<()> {
    match find_damaged(connection, &[study]).await?.remove(&study) {
        Some(cause) => Err(DamagedStudy { study, cause }.into()),
        None => Ok(()),
    }
}

/// Must be called before a transaction changes a study, because the new checksum would hide the
/// damage.
///
/// # Errors
/// `DamagedStudy` if the row does not match its checksum, or is missing.
pub(super) async fn check_study(connection: &mut SqliteConnection, study: u64) -> Result<()> {
    let row = query(STUDIES.select("WHERE number = ?"))
        .bind(study.cast_signed())
        .fetch_optional(&mut *connection)
        .await?;
    let cause = match row.map(|row| study_digest::is_intact(&row)).transpose()? {
        Some(true) => return Ok(()),
        Some(false) => Damage::Row,
        None => return check(connection, study).await,
    };
    Err(DamagedStudy { study, cause }.into())
}

pub(super) async fn add_study(connection: &mut SqliteConnection, study: u64) -> sqlx::Result<()> {
    let sql = "INSERT INTO study_contents (study, looks, checksums) VALUES (?, 0, 1)";
    let insert = query(sql).bind(study.cast_signed());
    insert.execute(connection).await?;
    Ok(())
}

/// Does nothing for a run that does not belong to a study.
pub(super) async fn add_run(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    let sql = "INSERT INTO study_runs (run, study) SELECT number, study FROM runs WHERE number = ? AND study IS NOT NULL";
    let insert = query(sql).bind(run.cast_signed());
    insert.execute(connection).await?;
    Ok(())
}

pub(super) async fn add_look(connection: &mut SqliteConnection, study: u64) -> sqlx::Result<()> {
    let sql =
        "UPDATE study_contents SET looks = looks + 1, checksums = checksums + 1 WHERE study = ?";
    let update = query(sql).bind(study.cast_signed());
    update.execute(connection).await?;
    Ok(())
}

pub(super) async fn remove_run(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    let delete = query("DELETE FROM study_runs WHERE run = ?").bind(run.cast_signed());
    delete.execute(connection).await?;
    Ok(())
}

/// Removes the list of a study's runs, including runs whose rows are missing.
pub(super) async fn remove_runs(connection: &mut SqliteConnection, study: u64) -> sqlx::Result<()> {
    let delete = query("DELETE FROM study_runs WHERE study = ?").bind(study.cast_signed());
    delete.execute(connection).await?;
    Ok(())
}

/// Deletes a study without runs. Also removes what is left of a study whose main row is missing.
pub(super) async fn delete_study(
    connection: &mut SqliteConnection,
    study: u64,
) -> sqlx::Result<()> {
    for sql in [
        "DELETE FROM studies WHERE number = ?",
        "DELETE FROM study_looks WHERE study = ?",
        "DELETE FROM study_contents WHERE study = ?",
    ] {
        let delete = query(sql).bind(study.cast_signed());
        delete.execute(&mut *connection).await?;
    }
    Ok(())
}
