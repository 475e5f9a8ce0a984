//! Run fingerprints: columns of `runs` that lists and histories filter by.

use crate::store::{
    Store,
    compaction::{ENDED, in_background},
    rows::json,
};
use anyhow::Result;
use leadline_compare::{
    fingerprint::{self, VERSION},
    group::ComparedRun,
};
use leadline_protocol::{
    host::HostFacts, plan::job::ResolvedJob, report::Report, status::RunStatus,
};
use sqlx::{Row, SqliteConnection, query, sqlite::SqliteRow};

/// Runs per transaction: a step takes some tens of milliseconds.
const RUNS_PER_STEP: u32 = 50;

/// Both are null without a result, and if the stored result cannot be read.
#[derive(Default)]
struct Fingerprints {
    job: Option<String>,
    host: Option<String>,
}

/// Sets the fingerprints of a run with a result.
pub(super) async fn update(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    let row = query(
        "SELECT resolved, host_facts, report, sample_ms FROM run_details WHERE run = ? AND report IS NOT NULL",
    )
    .bind(run.cast_signed())
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(()) };
    write(connection, run, &compute(&row)?).await
}

impl Store {
    /// Computes the fingerprints of some ended runs that have none of the current version, in one
    /// transaction. Each run is tried once per version. Returns false if there was nothing to do.
    pub(crate) async fn fingerprint_step(&self) -> Result<bool> {
        let rows = query(
            "SELECT number, resolved, host_facts, report, sample_ms FROM runs JOIN run_details ON run = number
             WHERE fingerprint_version < ? AND status IN (SELECT value FROM json_each(?))
             ORDER BY fingerprint_version, number LIMIT ?",
        )
        .bind(VERSION)
        .bind(ENDED)
        .bind(RUNS_PER_STEP)
        .fetch_all(&self.readers)
        .await?;
        if rows.is_empty() {
            return Ok(false);
        }
        let computed = in_background(move || compute_all(&rows)).await?;
        let mut transaction = self.begin_unsynced().await?;
        for (run, fingerprints) in &computed {
            write(&mut transaction.connection, *run, fingerprints).await?;
        }
        transaction.commit().await?;
        tracing::debug!(runs = computed.len(), "updated fingerprints of stored runs");
        Ok(true)
    }
}

fn compute_all(rows: &[SqliteRow]) -> Result<Vec<(u64, Fingerprints)>> {
    let computed = rows.iter().map(|row| {
        let run: u64 = row.try_get("number")?;
        let fingerprints = compute(row).unwrap_or_else(|error| {
            tracing::warn!(
                run,
                "cannot compute the fingerprints of a stored run: {error}"
            );
            Fingerprints::default()
        });
        Ok((run, fingerprints))
    });
    computed.collect()
}

fn compute(row: &SqliteRow) -> sqlx::Result<Fingerprints> {
    let Some(report) = json::<Report>(row, "report")? else {
        return Ok(Fingerprints::default());
    };
    let resolved: Option<Vec<ResolvedJob>> = json(row, "resolved")?;
    let host: Option<HostFacts> = json(row, "host_facts")?;
    let compared = ComparedRun {
        label: String::new(),
        number: None,
        status: RunStatus::Done,
        sample_ms: row.try_get("sample_ms")?,
        resolved: resolved.as_deref().unwrap_or_default(),
        host: host.as_ref(),
        report: Some(&report),
        verdict: None,
        findings: &[],
        block: None,
        is_after_look: false,
    };
    Ok(Fingerprints {
        job: fingerprint::job(&compared),
        host: fingerprint::host(&compared),
    })
}

async fn write(
    connection: &mut SqliteConnection,
    run: u64,
    fingerprints: &Fingerprints,
) -> sqlx::Result<()> {
    query(
        "UPDATE runs SET job_fingerprint = ?, host_fingerprint = ?, fingerprint_version = ? WHERE number = ?",
    )
    .bind(&fingerprints.job)
    .bind(&fingerprints.host)
    .bind(VERSION)
    .bind(run.cast_signed())
    .execute(connection)
    .await?;
    Ok(())
}
