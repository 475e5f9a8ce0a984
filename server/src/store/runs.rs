//! Reads and updates runs.

use crate::store::{
    Store, digest,
    new_run::search_text,
    rows,
    run_digest::{Integrity, REQUEST},
};
use anyhow::Result;
use leadline_protocol::{
    run::{Run, RunPatch, RunSummary},
    status::RunStatus,
};
use sqlx::{Row, sqlite::SqliteRow, types::Json};
use std::{collections::BTreeSet, sync::PoisonError};

/// Maximum number of ended runs that are verified on every read. Above it, each run is verified
/// once, because reading the reports of thousands of runs takes a second.
const MAX_CHECKED_AGAIN: usize = 500;

/// A run without a final status that was found when the server started.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct UnfinishedRun {
    pub number: u64,
    /// See `RunSummary::queue_order`.
    pub queue_order: u64,
    pub status: RunStatus,
    pub locks: BTreeSet<String>,
    /// Whether a user confirmed that the run overwrites data.
    pub is_confirmed: bool,
}

/// Result of an update.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PatchOutcome {
    Done,
    Missing,
    /// The run has been changed in the meantime.
    Changed,
}

impl Store {
    /// Changes the name, tags or notes. `expected`: the etag that the stored version must have.
    pub(crate) async fn patch_run(
        &self,
        run: u64,
        patch: &RunPatch,
        expected: Option<&str>,
    ) -> Result<PatchOutcome> {
        // The transaction begins before the read, so no concurrent change can happen in between.
        let mut transaction = self.begin().await?;
        let Some(current) = self.summary(run).await? else {
            return Ok(PatchOutcome::Missing);
        };
        if expected.is_some_and(|expected| expected != current.etag) {
            return Ok(PatchOutcome::Changed);
        }
        let name = patch.name.as_ref().unwrap_or(&current.name);
        let notes = patch.notes.as_ref().unwrap_or(&current.notes);
        let tags = patch.tags.as_ref().unwrap_or(&current.tags);
        let target = &current.workload.target;
        // Values that cannot be read stay as they are, unless they are replaced.
        sqlx::query("UPDATE runs SET name = coalesce(?, name), notes = coalesce(?, notes), tags = coalesce(?, tags), search = ? WHERE number = ?")
            .bind(&patch.name)
            .bind(&patch.notes)
            .bind(patch.tags.as_ref().map(Json))
            .bind(search_text(name, target, tags, notes))
            .bind(run.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await?;
        Ok(PatchOutcome::Done)
    }

    pub(crate) async fn summary(&self, run: u64) -> Result<Option<RunSummary>> {
        let mut found = sqlx::query("SELECT * FROM runs WHERE number = ?")
            .bind(run.cast_signed())
            .try_map(|row| rows::summary(&row))
            .fetch_optional(&self.readers)
            .await?;
        self.mark_damaged(found.as_mut_slice()).await?;
        Ok(found)
    }

    pub(crate) async fn run(&self, run: u64) -> Result<Option<Run>> {
        let Some(summary) = self.summary(run).await? else {
            return Ok(None);
        };
        let mut connection = self.readers.acquire().await?;
        let row = sqlx::query(
            "SELECT *, (SELECT max(seq) FROM events WHERE run = ?1) AS last_seq,
                 (SELECT count(*) FROM events WHERE run = ?1 AND type = 'sample')
                 + (SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM sample_chunks WHERE run = ?1) AS samples
             FROM (SELECT ?1 AS number) LEFT JOIN run_details ON run = number",
        )
        .bind(run.cast_signed())
        .fetch_one(&mut *connection)
        .await?;
        let mut run = rows::details(summary, &row)?;
        drop(connection);
        (run.annotations, run.damaged_annotations) = self.annotations(run.summary.number).await?;
        Ok(Some(run))
    }

    /// Whether a run's request, status or position in a study has been changed outside Leadline.
    /// Its result is not checked.
    pub(crate) async fn is_changed(&self, run: u64) -> Result<bool> {
        let mut connection = self.readers.acquire().await?;
        let integrity = REQUEST.integrity(&mut connection, run).await?;
        Ok(integrity == Integrity::Damaged)
    }

    /// Marks runs that do not match their checksums, and removes their results.
    pub(crate) async fn mark_damaged(&self, runs: &mut [RunSummary]) -> Result<()> {
        let numbers: Vec<u64> = runs.iter().map(|run| run.number).collect();
        let damaged = self.damaged_runs(&numbers).await?;
        let runs = runs.iter_mut();
        runs.filter(|run| damaged.contains(&run.number))
            .for_each(rows::mark_damaged);
        Ok(())
    }

    /// Returns the runs that do not match their checksums, or whose results do not.
    pub(super) async fn damaged_runs(&self, runs: &[u64]) -> Result<BTreeSet<u64>> {
        let mut connection = self.readers.acquire().await?;
        Ok(digest::find_damaged(&mut connection, runs).await?)
    }

    /// Like `damaged_runs`, for ended runs. If there are many, verifies intact ones only once,
    /// because their results do not change.
    pub(super) async fn damaged_since_start(&self, mut runs: Vec<u64>) -> Result<BTreeSet<u64>> {
        let verified = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.len() > MAX_CHECKED_AGAIN {
            let verified = verified();
            runs.retain(|run| !verified.contains(run));
        }
        let damaged = self.damaged_runs(&runs).await?;
        let intact = runs.into_iter().filter(|run| !damaged.contains(run));
        verified().extend(intact);
        Ok(damaged)
    }

    /// Returns runs without a final status, in queue order.
    pub(crate) async fn unfinished_runs(&self) -> Result<Vec<UnfinishedRun>> {
        let run = |row: SqliteRow| {
            Ok(UnfinishedRun {
                number: row.try_get("number")?,
                queue_order: row.try_get("queue_order")?,
                status: rows::variant(&row, "status")?,
                locks: rows::json(&row, "locks")?.unwrap_or_default(),
                is_confirmed: row.try_get("is_confirmed")?,
            })
        };
        Ok(sqlx::query(
            "SELECT number, coalesce(retry_of, number) AS queue_order, status, locks, confirm IS NOT NULL AS is_confirmed FROM runs LEFT JOIN run_details ON run = number
             WHERE status IN ('queued', 'preparing', 'measuring', 'finishing') ORDER BY number",
        )
        .try_map(run)
        .fetch_all(&self.readers)
        .await?)
    }

    pub(crate) async fn count_by_status(&self) -> Result<Vec<(RunStatus, u64)>> {
        let sql = "SELECT status, count(*) AS count FROM runs GROUP BY status";
        Ok(sqlx::query(sql)
            .try_map(|row: SqliteRow| Ok((rows::variant(&row, "status")?, row.try_get("count")?)))
            .fetch_all(&self.readers)
            .await?)
    }
}
