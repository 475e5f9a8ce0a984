//! Changes of a run together with the events that caused them.

use crate::store::entry::Entry;
use crate::store::enum_text::EnumText;
use crate::store::{Durability, Store};
use anyhow::Result;
use leadline_protocol::host::HostFacts;
use leadline_protocol::plan::job::ResolvedJob;
use leadline_protocol::report_summary::ReportSummary;
use leadline_protocol::result::{Failure, RunResult};
use leadline_protocol::status::RunStatus;
use leadline_protocol::workload_summary::WorkloadSummary;
use sqlx::SqliteConnection;
use sqlx::types::Json;

/// New values; `None` leaves a value unchanged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Update {
    pub(crate) status: Option<RunStatus>,
    pub(crate) started_at_ms: Option<u64>,
    pub(crate) finished_at_ms: Option<u64>,
    pub(crate) reason: Option<String>,
    pub(crate) resolved: Option<Vec<ResolvedJob>>,
    pub(crate) host_facts: Option<HostFacts>,
    pub(crate) measure_ms: Option<u64>,
    pub(crate) result: Option<Box<RunResult>>,
    pub(crate) failure: Option<Failure>,
}

impl Store {
    /// Stores a change and its events in one transaction. Returns false, without changes, if the status of the run is
    /// not `from`.
    pub(crate) async fn apply_update(
        &self,
        run: u64,
        from: RunStatus,
        update: &Update,
        entries: &[Entry],
    ) -> Result<bool> {
        let mut transaction = self.begin(Durability::Disk).await?;
        if !update_summary(&mut transaction, run, from, update).await? {
            return Ok(false);
        }
        update_details(&mut transaction, run, update).await?;
        if let Some(jobs) = &update.resolved {
            update_workload(&mut transaction, run, &WorkloadSummary::new(jobs)).await?;
        }
        for entry in entries {
            entry.insert(&mut transaction, run).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}

async fn update_summary(
    connection: &mut SqliteConnection,
    run: u64,
    from: RunStatus,
    update: &Update,
) -> sqlx::Result<bool> {
    let figures = update
        .result
        .as_ref()
        .map(|result| ReportSummary::new(&result.report, &result.verdict))
        .unwrap_or_default();
    let changed = sqlx::query(
        "UPDATE runs SET status = coalesce(?, status), started_at_ms = coalesce(?, started_at_ms), finished_at_ms = coalesce(?, finished_at_ms),
             reason = coalesce(?, reason), iops = coalesce(?, iops), bytes_per_second = coalesce(?, bytes_per_second),
             lat_p50_ns = coalesce(?, lat_p50_ns), lat_p99_ns = coalesce(?, lat_p99_ns), lat_max_ns = coalesce(?, lat_max_ns),
             verdict = coalesce(?, verdict)
         WHERE number = ? AND status = ?",
    )
    .bind(update.status.map(EnumText))
    .bind(update.started_at_ms.map(u64::cast_signed))
    .bind(update.finished_at_ms.map(u64::cast_signed))
    .bind(&update.reason)
    .bind(figures.iops)
    .bind(figures.bytes_per_second)
    .bind(figures.lat_p50_ns.map(u64::cast_signed))
    .bind(figures.lat_p99_ns.map(u64::cast_signed))
    .bind(figures.lat_max_ns.map(u64::cast_signed))
    .bind(figures.verdict.map(EnumText))
    .bind(run.cast_signed())
    .bind(EnumText(from))
    .execute(connection)
    .await?;
    Ok(changed.rows_affected() == 1)
}

async fn update_workload(
    connection: &mut SqliteConnection,
    run: u64,
    workload: &WorkloadSummary,
) -> sqlx::Result<()> {
    sqlx::query("UPDATE runs SET mode = ?, target = ?, device = ?, iodepth = ?, direct = ? WHERE number = ?")
        .bind(workload.mode.map(EnumText))
        .bind(&workload.target)
        .bind(&workload.device)
        .bind(workload.iodepth)
        .bind(workload.direct)
        .bind(run.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}

async fn update_details(
    connection: &mut SqliteConnection,
    run: u64,
    update: &Update,
) -> sqlx::Result<()> {
    let result = update.result.as_deref();
    sqlx::query(
        "UPDATE run_details SET resolved = coalesce(?, resolved), host_facts = coalesce(?, host_facts), measure_ms = coalesce(?, measure_ms),
             report = coalesce(?, report), verdict = coalesce(?, verdict), findings = coalesce(?, findings), failure = coalesce(?, failure)
         WHERE run = ?",
    )
    .bind(update.resolved.as_ref().map(Json))
    .bind(update.host_facts.as_ref().map(Json))
    .bind(update.measure_ms.map(u64::cast_signed))
    .bind(result.map(|result| Json(&result.report)))
    .bind(result.map(|result| Json(&result.verdict)))
    .bind(result.map(|result| Json(&result.findings)))
    .bind(update.failure.as_ref().map(Json))
    .bind(run.cast_signed())
    .execute(connection)
    .await?;
    Ok(())
}
