//! Reads, changes and deletes runs.

use crate::store::enum_text::EnumText;
use crate::store::new_run::search_text;
use crate::store::rows::{self, DETAILS, SUMMARY};
use crate::store::{Durability, Store, study_steps};
use anyhow::Result;
use leadline_protocol::run::{Run, RunPatch, RunSummary};
use leadline_protocol::status::RunStatus;
use sqlx::AssertSqlSafe;
use sqlx::types::Json;
use std::collections::BTreeSet;

/// A run without a final status, found at the start of the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct UnfinishedRun {
    pub(crate) number: u64,
    pub(crate) status: RunStatus,
    pub(crate) locks: BTreeSet<String>,
}

impl Store {
    /// Changes name, tags or notes. Returns false if there is no such run.
    pub(crate) async fn patch_run(&self, run: u64, patch: &RunPatch) -> Result<bool> {
        // Begun before the read, so that no other change comes in between.
        let mut transaction = self.begin(Durability::Disk).await?;
        let Some(current) = self.summary(run).await? else {
            return Ok(false);
        };
        let name = patch.name.as_ref().unwrap_or(&current.name);
        let notes = patch.notes.as_ref().unwrap_or(&current.notes);
        let tags = patch.tags.as_ref().unwrap_or(&current.tags);
        let target = &current.workload.target;
        let changed = sqlx::query(
            "UPDATE runs SET name = ?, notes = ?, tags = ?, search = ? WHERE number = ?",
        )
        .bind(name)
        .bind(notes)
        .bind(Json(tags))
        .bind(search_text(name, target, tags, notes))
        .bind(run.cast_signed())
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(changed.rows_affected() == 1)
    }

    /// Deletes a run with its events. Returns false if there is no such run or it has not ended.
    pub(crate) async fn delete_run(&self, run: u64) -> Result<bool> {
        let mut transaction = self.begin(Durability::Disk).await?;
        let deleted = sqlx::query("DELETE FROM runs WHERE number = ? AND status IN ('done', 'failed', 'cancelled', 'interrupted')")
            .bind(run.cast_signed())
            .execute(&mut *transaction)
            .await?;
        study_steps::delete_empty_studies(&mut transaction).await?;
        sqlx::query("PRAGMA incremental_vacuum")
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(deleted.rows_affected() == 1)
    }

    pub(crate) async fn summary(&self, run: u64) -> Result<Option<RunSummary>> {
        let sql = format!("SELECT {SUMMARY} FROM runs WHERE number = ?");
        Ok(sqlx::query(AssertSqlSafe(sql))
            .bind(run.cast_signed())
            .try_map(rows::summary)
            .fetch_optional(&self.readers)
            .await?)
    }

    pub(crate) async fn run(&self, run: u64) -> Result<Option<Run>> {
        let Some(summary) = self.summary(run).await? else {
            return Ok(None);
        };
        let sql = format!("SELECT {DETAILS} FROM run_details WHERE run = ?");
        Ok(sqlx::query(AssertSqlSafe(sql))
            .bind(run.cast_signed())
            .try_map(|row| rows::details(summary.clone(), &row))
            .fetch_optional(&self.readers)
            .await?)
    }

    /// Runs without a final status, in queue order.
    pub(crate) async fn unfinished_runs(&self) -> Result<Vec<UnfinishedRun>> {
        let rows: Vec<(u64, EnumText<RunStatus>, Json<BTreeSet<String>>)> = sqlx::query_as(
            "SELECT number, status, locks FROM runs JOIN run_details ON run = number
             WHERE status IN ('queued', 'preparing', 'measuring', 'finishing') ORDER BY number",
        )
        .fetch_all(&self.readers)
        .await?;
        let runs = rows
            .into_iter()
            .map(|(number, EnumText(status), Json(locks))| UnfinishedRun {
                number,
                status,
                locks,
            });
        Ok(runs.collect())
    }

    pub(crate) async fn count_by_status(&self) -> Result<Vec<(RunStatus, u64)>> {
        let rows: Vec<(EnumText<RunStatus>, u64)> =
            sqlx::query_as("SELECT status, count(*) FROM runs GROUP BY status")
                .fetch_all(&self.readers)
                .await?;
        let counts = rows
            .into_iter()
            .map(|(EnumText(status), count)| (status, count));
        Ok(counts.collect())
    }
}
