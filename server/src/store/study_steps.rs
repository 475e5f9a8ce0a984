//! Study progress: which steps have ended or are queued, and which files remain.

use crate::store::{
    Store,
    compaction::ENDED,
    new_run::{self, NewRun, StudyPosition},
    rows,
    studies::StepDescription,
    study_contents,
    study_digest::STUDIES,
};
use anyhow::Result;
use leadline_protocol::{status::RunStatus, study::files::LeftoverFile, verdict::Verdicts};
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow, types::Json};
use std::collections::BTreeMap;

/// The step that ended a study because it failed or was cancelled.
#[derive(Clone, Debug)]
pub(crate) struct LastStep {
    /// See `RunSummary::queue_order`.
    pub queue_order: u64,
    /// One-based.
    pub step: u32,
    pub status: RunStatus,
    pub reason: Option<String>,
}

impl Store {
    /// Verdicts of a study's runs, by run number.
    pub(crate) async fn study_verdicts(&self, study: u64) -> Result<BTreeMap<u64, Verdicts>> {
        let rows: Vec<(u64, Json<Verdicts>)> = sqlx::query_as(
            "SELECT run, run_details.verdict FROM run_details JOIN runs ON number = run WHERE study = ? AND run_details.verdict IS NOT NULL",
        )
        .bind(study.cast_signed())
        .fetch_all(&self.readers)
        .await?;
        let verdicts = rows.into_iter().map(|(run, Json(verdict))| (run, verdict));
        Ok(verdicts.collect())
    }

    /// The first step whose failure or cancellation ended the study, if any. If the study retries
    /// failed runs, it ends only if a step has no complete run or if a run must not be retried.
    pub(crate) async fn last_step(&self, study: u64) -> Result<Option<LastStep>> {
        let last = |row: SqliteRow| {
            Ok(LastStep {
                queue_order: row.try_get("queue_order")?,
                step: row.try_get("step")?,
                status: rows::variant(&row, "status")?,
                reason: row.try_get("reason")?,
            })
        };
        Ok(sqlx::query(
            "SELECT coalesce(retry_of, last.number) AS queue_order, step, status, reason
             FROM runs AS last JOIN studies ON studies.number = study JOIN run_details ON run = last.number
             WHERE study = ? AND NOT continue_on_failure AND (status = 'cancelled' OR status = 'failed' AND (
                 NOT retries OR run_details.confirm IS NOT NULL
                 OR NOT EXISTS (SELECT 1 FROM runs WHERE retry_of = last.number)
                 AND NOT EXISTS (SELECT 1 FROM runs WHERE study = last.study AND step = last.step AND status = 'done')))
             ORDER BY queue_order, last.number LIMIT 1",
        )
        .bind(study.cast_signed())
        .try_map(last)
        .fetch_optional(&self.readers)
        .await?)
    }

    /// Returns a study's queued runs after this queue position.
    pub(crate) async fn queued_runs_after(&self, study: u64, queue_order: u64) -> Result<Vec<u64>> {
        Ok(sqlx::query_scalar(
            "SELECT number FROM runs WHERE study = ? AND coalesce(retry_of, number) > ? AND status = 'queued' ORDER BY coalesce(retry_of, number)",
        )
        .bind(study.cast_signed())
        .bind(queue_order.cast_signed())
        .fetch_all(&self.readers)
        .await?)
    }

    /// Whether any of the study's runs has started.
    pub(crate) async fn has_started(&self, study: u64) -> Result<bool> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM runs WHERE study = ? AND started_at_ms IS NOT NULL)";
        Ok(sqlx::query_scalar(sql)
            .bind(study.cast_signed())
            .fetch_one(&self.readers)
            .await?)
    }

    pub(crate) async fn has_unfinished_runs(&self, study: u64) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE study = ? AND status NOT IN (SELECT value FROM json_each(?)))";
        Ok(sqlx::query_scalar(sql)
            .bind(study.cast_signed())
            .bind(ENDED)
            .fetch_one(&self.readers)
            .await?)
    }

    /// Stores why the remaining runs of a study are not needed, unless a reason is already stored.
    pub(crate) async fn set_ended(&self, study: u64, reason: &str) -> Result<()> {
        let mut transaction = self.begin().await?;
        study_contents::check_study(&mut transaction.connection, study).await?;
        sqlx::query("UPDATE studies SET ended = ? WHERE number = ? AND ended IS NULL")
            .bind(reason)
            .bind(study.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        STUDIES
            .update(&mut transaction.connection, &[study])
            .await?;
        transaction.commit().await
    }

    /// Up to `limit` studies with a procedure that has not ended, newest first.
    pub(crate) async fn open_procedures(&self, limit: u32) -> Result<Vec<u64>> {
        Ok(sqlx::query_scalar(
            "SELECT number FROM studies WHERE procedure IS NOT NULL AND ended IS NULL ORDER BY number DESC LIMIT ?",
        )
        .bind(limit)
        .fetch_all(&self.readers)
        .await?)
    }

    /// Adds a run to a study after its last step. Returns `None` if the study already has this
    /// step, or has been deleted.
    pub(crate) async fn append_step(
        &self,
        study: u64,
        description: &StepDescription,
        run: &NewRun,
        now_ms: u64,
    ) -> Result<Option<u64>> {
        let step = description.step.unwrap_or_default();
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        study_contents::check_study(connection, study).await?;
        let appended = sqlx::query(
            "UPDATE studies SET steps = json_insert(steps, '$[#]', json(?))
             WHERE number = ? AND json_array_length(steps) = ? - 1 AND ended IS NULL",
        )
        .bind(Json(description))
        .bind(study.cast_signed())
        .bind(step)
        .execute(&mut *connection)
        .await?;
        if appended.rows_affected() == 0 {
            return Ok(None);
        }
        STUDIES.update(connection, &[study]).await?;
        let position = StudyPosition {
            study,
            step,
            repeat: 1,
        };
        let number = new_run::insert(connection, run, Some(position), now_ms).await?;
        transaction.commit().await?;
        Ok(Some(number))
    }

    pub(crate) async fn studies_with_queued_runs(&self) -> Result<Vec<u64>> {
        Ok(sqlx::query_scalar(
            "SELECT DISTINCT study FROM runs WHERE status = 'queued' AND study IS NOT NULL ORDER BY study",
        )
        .fetch_all(&self.readers)
        .await?)
    }

    /// Up to `limit` ended studies with files that still have to be removed, newest first.
    pub(crate) async fn studies_with_leftovers(&self, limit: u32) -> Result<Vec<u64>> {
        Ok(sqlx::query_scalar(
            "SELECT number FROM studies WHERE owned_files <> '[]' AND NOT EXISTS (SELECT 1 FROM runs WHERE study = studies.number
             AND status IN ('queued', 'preparing', 'measuring', 'finishing')) ORDER BY number DESC LIMIT ?",
        )
        .bind(limit)
        .fetch_all(&self.readers)
        .await?)
    }

    /// Replaces a study's list of files. A study without files and runs is deleted.
    pub(crate) async fn set_owned_files(&self, study: u64, files: &[LeftoverFile]) -> Result<()> {
        let mut transaction = self.begin().await?;
        study_contents::check_study(&mut transaction.connection, study).await?;
        sqlx::query("UPDATE studies SET owned_files = ? WHERE number = ?")
            .bind(Json(files))
            .bind(study.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        STUDIES
            .update(&mut transaction.connection, &[study])
            .await?;
        delete_empty_studies(&mut transaction.connection).await?;
        transaction.commit().await
    }
}

/// Deletes studies without runs, unless they have files that still have to be removed. A study
/// whose runs were deleted outside Leadline is damaged, and therefore kept.
pub(super) async fn delete_empty_studies(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let empty: Vec<u64> = sqlx::query_scalar(
        "SELECT number FROM studies WHERE owned_files = '[]'
         AND NOT EXISTS (SELECT 1 FROM runs WHERE study = studies.number)
         AND NOT EXISTS (SELECT 1 FROM study_runs WHERE study = studies.number)",
    )
    .fetch_all(&mut *connection)
    .await?;
    for study in empty {
        study_contents::delete_study(connection, study).await?;
    }
    Ok(())
}
