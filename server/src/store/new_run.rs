//! Inserts runs.

use crate::store::{
    Store,
    confirmations::{self, CreateError},
    events::EventRow,
    keys::{self, IdempotencyKey},
    run_digest::REQUEST,
    study_contents,
};
use anyhow::Result;
use leadline_protocol::{
    event::EventBody,
    plan::job::ResolvedJob,
    status::{RunStatus, StatusChange},
    workload_summary::WorkloadSummary,
};
use serde_json::Value;
use sqlx::{SqliteConnection, types::Json};
use std::collections::BTreeSet;

/// A run to queue.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub name: String,
    pub host: String,
    pub tags: Vec<String>,
    pub notes: String,
    /// Jobs, as requested.
    pub requested: Vec<Value>,
    pub sample_ms: u32,
    pub resolved: Vec<ResolvedJob>,
    /// Confirmations that data may be overwritten by this run.
    pub confirm: Vec<String>,
    /// See `scheduler::queue::Locks`.
    pub locks: BTreeSet<String>,
}

/// A run's position in its study.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StudyPosition {
    pub study: u64,
    /// One-based.
    pub step: u32,
    /// One-based.
    pub repeat: u32,
}

impl Store {
    /// Inserts a run with its first event and returns its number.
    pub(crate) async fn insert_run(
        &self,
        new: &NewRun,
        key: Option<&IdempotencyKey>,
        now_ms: u64,
    ) -> Result<Result<u64, CreateError>> {
        let mut transaction = self.begin().await?;
        if let Some(key) = key
            && let Some(earlier) = keys::find(&mut transaction.connection, key).await?
        {
            return Ok(Err(CreateError::KeyUsed(earlier)));
        }
        let used = confirmations::mark_used(&mut transaction.connection, &new.confirm, now_ms);
        if let Some(used) = used.await? {
            return Ok(Err(CreateError::ConfirmationUsed(used)));
        }
        let number = insert(&mut transaction.connection, new, None, now_ms).await?;
        if let Some(key) = key {
            keys::insert(&mut transaction.connection, key, number, None, now_ms).await?;
        }
        transaction.commit().await?;
        Ok(Ok(number))
    }
}

/// Inserts a run with its first event and returns its number.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    new: &NewRun,
    step: Option<StudyPosition>,
    now_ms: u64,
) -> sqlx::Result<u64> {
    let number = insert_summary(connection, new, step, now_ms).await?;
    sqlx::query(
        "INSERT INTO run_details (run, requested, sample_ms, locks, resolved, confirm) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(number)
    .bind(Json(&new.requested))
    .bind(new.sample_ms)
    .bind(Json(&new.locks))
    .bind(Json(&new.resolved))
    .bind((!new.confirm.is_empty()).then_some(Json(&new.confirm)))
    .execute(&mut *connection)
    .await?;
    let number = number.cast_unsigned();
    study_contents::add_run(connection, number).await?;
    REQUEST.store(connection, number).await?;
    insert_first_event(connection, number, now_ms).await?;
    Ok(number)
}

pub(super) async fn insert_first_event(
    connection: &mut SqliteConnection,
    run: u64,
    now_ms: u64,
) -> sqlx::Result<()> {
    let queued = EventBody::Status(StatusChange {
        status: RunStatus::Queued,
        at_ms: now_ms,
        reason: None,
    });
    let entry =
        EventRow::new(0, 0.0, &queued).map_err(|error| sqlx::Error::Encode(error.into()))?;
    entry.insert(connection, run).await
}

async fn insert_summary(
    connection: &mut SqliteConnection,
    new: &NewRun,
    step: Option<StudyPosition>,
    now_ms: u64,
) -> sqlx::Result<i64> {
    let workload = WorkloadSummary::new(&new.resolved);
    let row = sqlx::query(
        "INSERT INTO runs (status, created_at_ms, host, jobs, mode, rw, bs, iodepth, numjobs, direct, device, name, target, tags, notes, search,
             study, step, repeat)
         VALUES ('queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(now_ms.cast_signed())
    .bind(&new.host)
    .bind(workload.jobs)
    .bind(workload.mode.map(<&str>::from))
    .bind(&workload.rw)
    .bind(&workload.bs)
    .bind(workload.iodepth)
    .bind(workload.numjobs)
    .bind(workload.direct)
    .bind(&workload.device)
    .bind(&new.name)
    .bind(&workload.target)
    .bind(Json(&new.tags))
    .bind(&new.notes)
    .bind(search_text(&new.name, &workload.target, &new.tags, &new.notes))
    .bind(step.map(|step| step.study.cast_signed()))
    .bind(step.map(|step| step.step))
    .bind(step.map(|step| step.repeat))
    .execute(connection)
    .await?;
    Ok(row.last_insert_rowid())
}

/// Returns the content of the `search` column.
pub(super) fn search_text(name: &str, target: &str, tags: &[String], notes: &str) -> String {
    format!("{name}\n{target}\n{}\n{notes}", tags.join("\n")).to_lowercase()
}
