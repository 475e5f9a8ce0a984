//! Retries of failed runs in repeated studies.

use crate::store::{
    Store, new_run, rows,
    run_digest::{Integrity, REQUEST},
    study_contents,
};
use anyhow::Result;
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeSet;

/// A retry that has been stored but not queued.
#[derive(Debug)]
pub(crate) struct Retry {
    pub number: u64,
    /// The failed run.
    pub retry_of: u64,
    pub locks: BTreeSet<String>,
}

impl Store {
    /// Returns failed runs that have not been retried. Excludes studies that have continued (a
    /// later run has started) and studies that a user has ended (later runs exist, but none is
    /// queued).
    pub(crate) async fn failed_runs(&self) -> sqlx::Result<Vec<u64>> {
        sqlx::query_scalar(
            "SELECT failed.number FROM runs AS failed JOIN studies ON studies.number = failed.study JOIN run_details ON run = failed.number
             WHERE retries AND failed.study IS NOT NULL AND failed.status IN ('failed', 'interrupted')
             AND failed.retry_of IS NULL AND run_details.confirm IS NULL
             AND NOT EXISTS (SELECT 1 FROM runs WHERE retry_of = failed.number)
             AND NOT EXISTS (SELECT 1 FROM runs WHERE study = failed.study AND started_at_ms IS NOT NULL AND coalesce(retry_of, number) > failed.number)
             AND (NOT EXISTS (SELECT 1 FROM runs WHERE study = failed.study AND coalesce(retry_of, number) > failed.number)
                 OR EXISTS (SELECT 1 FROM runs WHERE study = failed.study AND coalesce(retry_of, number) > failed.number AND status = 'queued'))
             ORDER BY failed.number",
        )
        .fetch_all(&self.readers)
        .await
    }

    /// Inserts a retry with the jobs of a failed run. Returns `None` if the run already has a
    /// retry.
    pub(crate) async fn insert_retry(&self, failed: u64, now_ms: u64) -> Result<Option<Retry>> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        let inserted = sqlx::query(
            "INSERT INTO runs (status, created_at_ms, host, jobs, mode, rw, bs, iodepth, numjobs, direct, device, name, target, tags, notes, search,
                 study, step, repeat, retry_of)
             SELECT 'queued', ?, host, jobs, mode, rw, bs, iodepth, numjobs, direct, device, name, target, tags, notes, search,
                 study, step, repeat, number FROM runs WHERE number = ?
             ON CONFLICT DO NOTHING",
        )
        .bind(now_ms.cast_signed())
        .bind(failed.cast_signed())
        .execute(&mut *connection)
        .await?;
        if inserted.rows_affected() == 0 {
            return Ok(None);
        }
        let number = inserted.last_insert_rowid().cast_unsigned();
        study_contents::add_run(connection, number).await?;
        sqlx::query(
            "INSERT INTO run_details (run, requested, sample_ms, locks, resolved) SELECT ?, requested, sample_ms, locks, resolved FROM run_details WHERE run = ?",
        )
        .bind(number.cast_signed())
        .bind(failed.cast_signed())
        .execute(&mut *connection)
        .await?;
        match REQUEST.integrity(connection, failed).await? {
            Integrity::Damaged => REQUEST.store_damaged(connection, number).await?,
            Integrity::Intact | Integrity::Unknown => REQUEST.store(connection, number).await?,
        }
        new_run::insert_first_event(connection, number, now_ms).await?;
        let locks = sqlx::query("SELECT locks FROM run_details WHERE run = ?")
            .bind(number.cast_signed())
            .try_map(|row: SqliteRow| rows::json(&row, "locks"))
            .fetch_one(&mut *connection)
            .await?;
        transaction.commit().await?;
        Ok(Some(Retry {
            number,
            retry_of: failed,
            locks: locks.unwrap_or_default(),
        }))
    }
}
