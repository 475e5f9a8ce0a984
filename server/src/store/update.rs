//! Stores a run's events together with the resulting changes to the run.

use crate::{
    rollups::builder::Rollup,
    store::{
        Store, digest,
        events::EventRow,
        fingerprints, rollups,
        run_digest::{FINAL, Integrity, REQUEST},
    },
};
use anyhow::{Result, ensure};
use leadline_protocol::{
    event::{Accepted, EventBody},
    report_summary::ReportSummary,
    result::RunResult,
    status::{RunStatus, StatusChange},
    verdict::VerdictClass,
    workload_summary::WorkloadSummary,
};
use serde::{Deserialize, Serialize};
use sqlx::{SqliteConnection, query, query_scalar, types::Json};

/// Events of a run that are stored together; never empty.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Record {
    pub entries: Vec<EventRow>,
    pub rollups: Vec<Rollup>,
    pub update: Option<Update>,
}

impl Record {
    fn has_report(&self) -> bool {
        let body = self.update.as_ref().and_then(|update| update.body.as_ref());
        matches!(body, Some(EventBody::Report(_)))
    }

    fn has_final_status(&self) -> bool {
        let mut updates = self.update.iter();
        updates.any(|update| update.change.status.is_final())
    }
}

/// A change to a run.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Update {
    pub from: RunStatus,
    pub change: StatusChange,
    /// The event with the data to store in the run.
    pub body: Option<EventBody>,
}

impl Store {
    /// Stores records in one transaction, skipping those that are already stored. Records with an
    /// update are synced to disk; others survive a server crash.
    ///
    /// # Errors
    /// The run does not have the expected status. Nothing is changed.
    pub(crate) async fn store_records(&self, run: u64, records: &[Record]) -> Result<()> {
        let has_update = records.iter().any(|record| record.update.is_some());
        let mut transaction = if has_update {
            self.begin().await?
        } else {
            self.begin_unsynced().await?
        };
        let connection = &mut transaction.connection;
        let stored = self
            .health
            .record_fault(insert(connection, run, records).await);
        stored?;
        transaction.commit().await
    }
}

async fn insert(connection: &mut SqliteConnection, run: u64, records: &[Record]) -> Result<()> {
    // A commit may succeed even if it returns an error, and the server may crash right after it.
    let last: Option<i64> = query_scalar("SELECT max(seq) FROM events WHERE run = ?")
        .bind(run.cast_signed())
        .fetch_one(&mut *connection)
        .await?;
    let is_new = |record: &&Record| {
        let entry = record.entries.last();
        entry.is_some_and(|entry| last.is_none_or(|last| entry.seq.cast_signed() > last))
    };
    for record in records.iter().filter(is_new) {
        if let Some(update) = &record.update {
            apply(connection, run, update).await?;
        }
        for entry in &record.entries {
            entry.insert(connection, run).await?;
        }
        rollups::insert(connection, run, &record.rollups).await?;
        if record.has_report() {
            fingerprints::update(connection, run).await?;
            digest::store(connection, run).await?;
        }
        if record.has_final_status()
            && REQUEST.integrity(connection, run).await? == Integrity::Intact
        {
            FINAL.store(connection, run).await?;
        }
    }
    Ok(())
}

async fn apply(connection: &mut SqliteConnection, run: u64, update: &Update) -> Result<()> {
    let integrity = REQUEST.integrity(connection, run).await?;
    let from = update.from;
    let updated = update_status(connection, run, from, &update.change).await?;
    let from = from.as_str();
    ensure!(updated, "run #{run} is not {from} in the store");
    match &update.body {
        Some(EventBody::Accepted(accepted)) => {
            update_accepted(connection, run, accepted).await?;
        }
        Some(EventBody::Report(result)) => {
            update_result(connection, run, result).await?;
        }
        Some(EventBody::Failed(failure)) => {
            query("UPDATE run_details SET failure = ? WHERE run = ?")
                .bind(Json(failure))
                .bind(run.cast_signed())
                .execute(&mut *connection)
                .await?;
        }
        _ => {}
    }
    if integrity == Integrity::Intact {
        REQUEST.store(connection, run).await?;
    }
    Ok(())
}

async fn update_status(
    connection: &mut SqliteConnection,
    run: u64,
    from: RunStatus,
    change: &StatusChange,
) -> sqlx::Result<bool> {
    let updated = query(
        "UPDATE runs SET status = ?1, reason = coalesce(?2, reason),
             started_at_ms = iif(?1 = 'preparing', coalesce(started_at_ms, ?3), started_at_ms),
             finished_at_ms = iif(?1 IN ('done', 'failed', 'cancelled', 'interrupted'), ?3, finished_at_ms)
         WHERE number = ?4 AND status = ?5",
    )
    .bind(change.status.as_str())
    .bind(&change.reason)
    .bind(change.at_ms.cast_signed())
    .bind(run.cast_signed())
    .bind(from.as_str())
    .execute(connection)
    .await?;
    Ok(updated.rows_affected() == 1)
}

async fn update_accepted(
    connection: &mut SqliteConnection,
    run: u64,
    accepted: &Accepted,
) -> sqlx::Result<()> {
    let workload = WorkloadSummary::new(&accepted.jobs);
    query("UPDATE runs SET mode = ?, target = ?, device = ?, iodepth = ?, direct = ? WHERE number = ?")
        .bind(workload.mode.map(<&str>::from))
        .bind(workload.target)
        .bind(workload.device)
        .bind(workload.iodepth)
        .bind(workload.direct)
        .bind(run.cast_signed())
        .execute(&mut *connection)
        .await?;
    query("UPDATE run_details SET resolved = ?, host_facts = ?, measure_ms = ? WHERE run = ?")
        .bind(Json(&accepted.jobs))
        .bind(Json(&accepted.host))
        .bind(accepted.measure_ms.map(u64::cast_signed))
        .bind(run.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn update_result(
    connection: &mut SqliteConnection,
    run: u64,
    result: &RunResult,
) -> sqlx::Result<()> {
    let summary = ReportSummary::new(&result.report, &result.verdict);
    query(
        "UPDATE runs SET iops = ?, bytes_per_second = ?, lat_p50_ns = ?, lat_p99_ns = ?, lat_max_ns = ?, verdict = ?
         WHERE number = ?",
    )
    .bind(summary.iops)
    .bind(summary.bytes_per_second)
    .bind(summary.lat_p50_ns.map(u64::cast_signed))
    .bind(summary.lat_p99_ns.map(u64::cast_signed))
    .bind(summary.lat_max_ns.map(u64::cast_signed))
    .bind(summary.verdict.map(VerdictClass::as_str))
    .bind(run.cast_signed())
    .execute(&mut *connection)
    .await?;
    query("UPDATE run_details SET report = ?, verdict = ?, findings = ? WHERE run = ?")
        .bind(Json(&result.report))
        .bind(Json(&result.verdict))
        .bind(Json(&result.findings))
        .bind(run.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}
