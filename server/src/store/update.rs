//! Changes of a run together with the events that caused them.

use crate::{
    rollups::builder::Rollup,
    store::{Store, digest, entry::Entry, rollups},
};
use leadline_protocol::{
    event::{Accepted, EventBody},
    report_summary::ReportSummary,
    result::RunResult,
    status::{RunStatus, StatusChange},
    verdict::VerdictClass,
    workload_summary::WorkloadSummary,
};
use sqlx::{SqliteConnection, query, types::Json};

impl Store {
    /// Stores a status, the content of an event, and events in one transaction. Returns false,
    /// without changes, if the status of the run is not `from`.
    pub(crate) async fn update_run(
        &self,
        run: u64,
        from: RunStatus,
        change: &StatusChange,
        body: Option<&EventBody>,
        entries: &[Entry],
        rollups: &[Rollup],
    ) -> anyhow::Result<bool> {
        let mut transaction = self.begin().await?;
        if !update_status(&mut transaction.connection, run, from, change).await? {
            return Ok(false);
        }
        match body {
            Some(EventBody::Accepted(accepted)) => {
                update_accepted(&mut transaction.connection, run, accepted).await?;
            }
            Some(EventBody::Report(result)) => {
                update_result(&mut transaction.connection, run, result).await?;
            }
            Some(EventBody::Failed(failure)) => {
                query("UPDATE run_details SET failure = ? WHERE run = ?")
                    .bind(Json(failure))
                    .bind(run.cast_signed())
                    .execute(&mut transaction.connection)
                    .await?;
            }
            _ => {}
        }
        for entry in entries {
            entry.insert(&mut transaction.connection, run).await?;
        }
        rollups::insert(&mut transaction.connection, run, rollups).await?;
        if let Some(EventBody::Report(_)) = body {
            digest::store(&mut transaction.connection, run).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
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

async fn update_result(
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
