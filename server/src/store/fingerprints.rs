//! Run fingerprints: columns of `runs` that lists and histories filter by.

use crate::store::rows::json;
use leadline_compare::{fingerprint, group::ComparedRun};
use leadline_protocol::{
    host::HostFacts, plan::job::ResolvedJob, report::Report, status::RunStatus,
};
use sqlx::{Row, SqliteConnection};

/// Sets the fingerprints of a run with a result.
pub(super) async fn update(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    let row = sqlx::query(
        "SELECT resolved, host_facts, report, sample_ms FROM run_details WHERE run = ? AND report IS NOT NULL",
    )
    .bind(run.cast_signed())
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let resolved: Option<Vec<ResolvedJob>> = json(&row, "resolved")?;
    let host: Option<HostFacts> = json(&row, "host_facts")?;
    let report: Option<Report> = json(&row, "report")?;
    let compared = ComparedRun {
        label: String::new(),
        number: Some(run),
        status: RunStatus::Done,
        sample_ms: row.try_get("sample_ms")?,
        resolved: resolved.as_deref().unwrap_or_default(),
        host: host.as_ref(),
        report: report.as_ref(),
        verdict: None,
        findings: &[],
        block: None,
    };
    sqlx::query("UPDATE runs SET job_fingerprint = ?, host_fingerprint = ? WHERE number = ?")
        .bind(fingerprint::job(&compared))
        .bind(fingerprint::host(&compared))
        .bind(run.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}

/// Sets missing fingerprints of runs from earlier versions.
pub(super) async fn fill(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let runs: Vec<u64> = sqlx::query_scalar(
        "SELECT number FROM runs JOIN run_details ON run = number
         WHERE job_fingerprint IS NULL AND report IS NOT NULL AND resolved IS NOT NULL",
    )
    .fetch_all(&mut *connection)
    .await?;
    if !runs.is_empty() {
        tracing::info!(runs = runs.len(), "computing fingerprints of stored runs");
    }
    for run in runs {
        if let Err(error) = update(connection, run).await {
            tracing::warn!(
                run,
                "cannot compute the fingerprint of a stored run: {error}"
            );
        }
    }
    Ok(())
}
