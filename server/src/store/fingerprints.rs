//! Run fingerprints, by which lists, histories and trends are filtered, and the metric values shown
//! in trends.

use crate::store::{
    Store, baselines,
    compaction::{ENDED, run_at_low_priority},
    digest,
    rows::json,
    run_digest::{FINAL, Integrity},
};
use anyhow::Result;
use leadline_compare::{
    fingerprint::{self, VERSION},
    group::ComparedRun,
    trend::values::RunValues,
};
use leadline_protocol::{
    finding::Finding, host::HostFacts, plan::job::ResolvedJob, report::Report, status::RunStatus,
};
use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection, query, sqlite::SqliteRow};

/// Number of runs per transaction. A step takes a few tens of milliseconds.
const RUNS_PER_STEP: u32 = 50;

/// All fields are null if the run has no result, or if the stored result cannot be read.
#[derive(Default)]
struct Fingerprints {
    job: Option<String>,
    host: Option<String>,
    machine: Option<String>,
    /// JSON of `RunValues`.
    values: Option<String>,
}

/// Computes and stores the fingerprints of a run that has a result.
pub(super) async fn update(connection: &mut SqliteConnection, run: u64) -> sqlx::Result<()> {
    let row = query(
        "SELECT resolved, host_facts, report, findings, sample_ms FROM run_details WHERE run = ? AND report IS NOT NULL",
    )
    .bind(run.cast_signed())
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(()) };
    write(connection, run, &compute(&row)?).await
}

impl Store {
    /// Computes the fingerprints of some ended runs that lack current ones, in one transaction.
    /// Each run is tried once per version. Returns false if there was nothing to do.
    pub(crate) async fn fingerprint_step(&self) -> Result<bool> {
        let rows = query(
            "SELECT number, resolved, host_facts, report, findings, sample_ms FROM runs JOIN run_details ON run = number
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
        let rows_read = rows.len();
        let computed = run_at_low_priority(move || compute_all(&rows)).await?;
        let mut transaction = self.begin_unsynced().await?;
        for (run, mut fingerprints) in computed {
            let connection = &mut transaction.connection;
            if digest::is_damaged(connection, run).await? {
                fingerprints.values = None;
            }
            let integrity = FINAL.integrity(connection, run).await?;
            write(connection, run, &fingerprints).await?;
            if integrity == Integrity::Intact {
                FINAL.store(connection, run).await?;
            }
        }
        transaction.commit().await?;
        tracing::debug!(runs = rows_read, "updated fingerprints of stored runs");
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
    let findings: Vec<Finding> = json(row, "findings")?.unwrap_or_default();
    let values = serde_json::to_string(&RunValues::new(&report, &findings));
    Ok(Fingerprints {
        job: fingerprint::job(&compared),
        host: fingerprint::host(&compared),
        machine: fingerprint::machine(&compared),
        values: Some(values.map_err(|error| sqlx::Error::Encode(error.into()))?),
    })
}

async fn write(
    connection: &mut SqliteConnection,
    run: u64,
    fingerprints: &Fingerprints,
) -> sqlx::Result<()> {
    query(
        "UPDATE runs SET job_fingerprint = ?, host_fingerprint = ?, machine_fingerprint = ?, fingerprint_version = ? WHERE number = ?",
    )
    .bind(&fingerprints.job)
    .bind(&fingerprints.host)
    .bind(&fingerprints.machine)
    .bind(VERSION)
    .bind(run.cast_signed())
    .execute(&mut *connection)
    .await?;
    write_values(connection, run, fingerprints.values.as_deref()).await?;
    if let (Some(job), Some(machine)) = (&fingerprints.job, &fingerprints.machine) {
        baselines::move_with_series(connection, run, job, machine).await?;
    }
    Ok(())
}

async fn write_values(
    connection: &mut SqliteConnection,
    run: u64,
    values: Option<&str>,
) -> sqlx::Result<()> {
    query("DELETE FROM run_values WHERE run = ?")
        .bind(run.cast_signed())
        .execute(&mut *connection)
        .await?;
    if let Some(values) = values {
        query("INSERT INTO run_values (run, content, sha256) VALUES (?, ?, ?)")
            .bind(run.cast_signed())
            .bind(values)
            .bind(&checksum(run, values)[..])
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Returns stored values; `None` if they are missing, damaged or cannot be read.
pub(super) fn read_values(row: &SqliteRow) -> sqlx::Result<Option<RunValues>> {
    let content: Option<&str> = row.try_get("content")?;
    let sha256: Option<&[u8]> = row.try_get("sha256")?;
    let run: u64 = row.try_get("number")?;
    let is_current = row.try_get::<u32, _>("fingerprint_version")? >= VERSION;
    let is_intact = |content: &str, sha256: &[u8]| {
        // Before version 29, the checksum did not cover the run number.
        *sha256 == checksum(run, content) || (!is_current && *sha256 == *Sha256::digest(content))
    };
    let intact = content
        .zip(sha256)
        .filter(|(content, sha256)| is_intact(content, sha256));
    Ok(intact.and_then(|(content, _)| serde_json::from_str(content).ok()))
}

/// Also hashes the run number, so swapping the values of two runs is detected.
fn checksum(run: u64, values: &str) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(run.to_le_bytes());
    digest.update(values);
    digest.finalize().into()
}
