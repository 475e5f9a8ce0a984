//! Schedules' due times and their results.

use crate::store::{
    Store, deliveries,
    rows::{optional_variant, variant},
    schedules::StoredSchedule,
};
use anyhow::Result;
use leadline_protocol::{
    schedule::{ScheduleStart, StartResult},
    study::summary::StudyStatus,
    webhook::WebhookMessage,
};
use sqlx::{FromRow, Row, SqliteConnection, query, query_as, query_scalar, sqlite::SqliteRow};

/// Number of due times to keep per schedule. Older ones are deleted.
const MAX_STARTS: u32 = 1_000;

/// The results of all of a schedule's due times since the previous decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Decision {
    pub handled_until_ms: u64,
    /// In chronological order. At most one is pending.
    pub starts: Vec<Start>,
}

/// One or more due times with the same result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Start {
    /// The latest of these due times.
    pub due_at_ms: u64,
    pub count: u64,
    pub result: StartResult,
    pub reason: Option<String>,
    pub is_catch_up: bool,
}

impl Start {
    pub(crate) fn new(due_at_ms: u64, result: StartResult, reason: Option<String>) -> Self {
        Self {
            due_at_ms,
            count: 1,
            result,
            reason,
            is_catch_up: false,
        }
    }
}

/// A due time whose start is pending, or whose run or study has not ended.
#[derive(Clone, Debug)]
pub(crate) struct ActiveStart {
    pub id: u64,
    pub schedule: u64,
    pub due_at_ms: u64,
    pub decided_ms: u64,
    pub run: Option<u64>,
    pub study: Option<u64>,
}

impl FromRow<'_, SqliteRow> for ActiveStart {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            schedule: row.try_get("schedule")?,
            due_at_ms: row.try_get("due_at_ms")?,
            decided_ms: row.try_get("decided_ms")?,
            run: row.try_get("run")?,
            study: row.try_get("study")?,
        })
    }
}

fn schedule_start(row: &SqliteRow) -> sqlx::Result<ScheduleStart> {
    Ok(ScheduleStart {
        due_at_ms: row.try_get("due_at_ms")?,
        count: row.try_get("count")?,
        result: variant(row, "result")?,
        reason: row.try_get("reason")?,
        is_catch_up: row.try_get("is_catch_up")?,
        run: row.try_get("run")?,
        study: row.try_get("study")?,
        status: optional_variant(row, "status")?,
    })
}

impl Store {
    /// A schedule's latest due times, newest first.
    pub(crate) async fn schedule_starts(
        &self,
        schedule: u64,
        limit: u32,
    ) -> Result<Vec<ScheduleStart>> {
        Ok(query(
            "SELECT * FROM schedule_starts WHERE schedule = ? ORDER BY due_at_ms DESC LIMIT ?",
        )
        .bind(schedule.cast_signed())
        .bind(limit)
        .try_map(|row: SqliteRow| schedule_start(&row))
        .fetch_all(&self.readers)
        .await?)
    }

    /// Number of missed due times after the specified time.
    pub(crate) async fn missed_starts(&self, schedule: u64, after_ms: u64) -> Result<u64> {
        Ok(query_scalar(
            "SELECT coalesce(sum(count), 0) FROM schedule_starts WHERE schedule = ? AND due_at_ms > ? AND result = 'missed'",
        )
        .bind(schedule.cast_signed())
        .bind(after_ms.cast_signed())
        .fetch_one(&self.readers)
        .await?)
    }

    /// Due times that are pending or active, in order.
    pub(crate) async fn active_starts(&self) -> Result<Vec<ActiveStart>> {
        Ok(query_as(
            "SELECT id, schedule, due_at_ms, decided_ms, run, study FROM schedule_starts
             WHERE status IS NULL AND result IN ('pending', 'started') ORDER BY id",
        )
        .fetch_all(&self.readers)
        .await?)
    }

    /// Returns the due time that queued a run or study, and whether the start was skipped
    /// afterward.
    pub(crate) async fn find_start(
        &self,
        run: u64,
        study: Option<u64>,
    ) -> Result<Option<(ActiveStart, bool)>> {
        Ok(query(
            "SELECT id, schedule, due_at_ms, decided_ms, run, study, result = 'skipped' AS is_skipped FROM schedule_starts
             WHERE status IS NULL AND (study = ?1 OR (?1 IS NULL AND run = ?2))",
        )
        .bind(study.map(u64::cast_signed))
        .bind(run.cast_signed())
        .try_map(|row: SqliteRow| Ok((ActiveStart::from_row(&row)?, row.try_get("is_skipped")?)))
        .fetch_optional(&self.readers)
        .await?)
    }

    /// Stores a decision, unless the schedule has been changed or deleted since it was read. If
    /// consecutive due times are skipped, only the first one is sent to webhooks.
    pub(crate) async fn store_decision(
        &self,
        schedule: &StoredSchedule,
        decision: &Decision,
        now_ms: u64,
        message: impl Fn(&Start) -> Option<WebhookMessage>,
    ) -> Result<()> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        let updated = query(
            "UPDATE schedules SET handled_until_ms = ? WHERE number = ? AND handled_until_ms = ? AND enabled",
        )
        .bind(decision.handled_until_ms.cast_signed())
        .bind(schedule.number.cast_signed())
        .bind(schedule.handled_until_ms.cast_signed())
        .execute(&mut *connection)
        .await?;
        if updated.rows_affected() == 0 {
            return Ok(());
        }
        for start in &decision.starts {
            let is_repeated = start.result == StartResult::Skipped
                && latest_result(connection, schedule.number).await? == Some(start.result);
            let is_new = insert(connection, schedule.number, start, now_ms).await?;
            if let Some(message) = message(start).filter(|_| is_new && !is_repeated) {
                deliveries::publish(connection, &message).await?;
            }
        }
        query(
            "DELETE FROM schedule_starts WHERE schedule = ?1 AND id <= (SELECT max(id) FROM schedule_starts WHERE schedule = ?1) - ?2
             AND (status IS NOT NULL OR result NOT IN ('pending', 'started'))",
        )
        .bind(schedule.number.cast_signed())
        .bind(MAX_STARTS)
        .execute(&mut *connection)
        .await?;
        transaction.commit().await
    }

    /// Stores the result of a scheduled start.
    pub(crate) async fn finish_start(
        &self,
        start: &ActiveStart,
        result: StartResult,
        reason: &str,
        message: Option<WebhookMessage>,
    ) -> Result<()> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        query("UPDATE schedule_starts SET result = ?, reason = ? WHERE id = ?")
            .bind(result.as_str())
            .bind(reason)
            .bind(start.id.cast_signed())
            .execute(&mut *connection)
            .await?;
        if let Some(message) = message {
            deliveries::publish(connection, &message).await?;
        }
        transaction.commit().await
    }

    /// Stores the run or study started for a due time.
    pub(crate) async fn link_start(
        &self,
        start: u64,
        run: Option<u64>,
        study: Option<u64>,
    ) -> Result<()> {
        let mut transaction = self.begin().await?;
        query("UPDATE schedule_starts SET result = 'started', run = ?, study = ? WHERE id = ?")
            .bind(run.map(u64::cast_signed))
            .bind(study.map(u64::cast_signed))
            .bind(start.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await
    }

    /// Stores the final status of a run or study.
    pub(crate) async fn store_final_status(
        &self,
        start: &ActiveStart,
        status: StudyStatus,
        reason: Option<&str>,
        message: Option<WebhookMessage>,
    ) -> Result<()> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        query("UPDATE schedule_starts SET status = ?, reason = coalesce(?, reason) WHERE id = ?")
            .bind(status.as_str())
            .bind(reason)
            .bind(start.id.cast_signed())
            .execute(&mut *connection)
            .await?;
        if let Some(message) = message {
            deliveries::publish(connection, &message).await?;
        }
        transaction.commit().await
    }
}

async fn latest_result(
    connection: &mut SqliteConnection,
    schedule: u64,
) -> Result<Option<StartResult>> {
    Ok(query(
        "SELECT result FROM schedule_starts WHERE schedule = ? ORDER BY due_at_ms DESC LIMIT 1",
    )
    .bind(schedule.cast_signed())
    .try_map(|row: SqliteRow| variant(&row, "result"))
    .fetch_optional(connection)
    .await?)
}

/// Returns false if the due time had already been handled before the clock was set back.
async fn insert(
    connection: &mut SqliteConnection,
    schedule: u64,
    start: &Start,
    now_ms: u64,
) -> Result<bool> {
    let inserted = query(
        "INSERT INTO schedule_starts (schedule, due_at_ms, decided_ms, count, result, reason, is_catch_up)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(schedule.cast_signed())
    .bind(start.due_at_ms.cast_signed())
    .bind(now_ms.cast_signed())
    .bind(start.count.cast_signed())
    .bind(start.result.as_str())
    .bind(&start.reason)
    .bind(start.is_catch_up)
    .execute(connection)
    .await?;
    Ok(inserted.rows_affected() > 0)
}
