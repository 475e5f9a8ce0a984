//! Reads series: all runs of one test on one machine.

use crate::store::{
    Store,
    baselines::SeriesKey,
    compaction::ENDED,
    fingerprints::read_values,
    rows::{self, json, optional_variant, variant},
};
use anyhow::Result;
use leadline_compare::{fingerprint::VERSION, trend::points::SeriesRun};
use leadline_protocol::{host::HostFacts, plan::job::ResolvedJob, report::Report};
use sqlx::{FromRow, Row, query, query_as, query_scalar, sqlite::SqliteRow};

/// Summary of the ended runs in a series. It changes whenever those runs change.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct SeriesExtent {
    pub runs: u64,
    pub newest: u64,
}

/// A run and the properties of its host.
pub(crate) struct HostRun {
    pub host_fingerprint: String,
    pub host: HostFacts,
    pub resolved: Vec<ResolvedJob>,
    /// Loaded only for runs that did not record their storage.
    pub report: Option<Report>,
}

impl FromRow<'_, SqliteRow> for SeriesExtent {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            runs: row.try_get("runs")?,
            newest: row.try_get::<Option<u64>, _>("newest")?.unwrap_or_default(),
        })
    }
}

impl Store {
    /// Up to `limit` series whose newest runs have numbers below `below`, newest first, and the
    /// total number of series.
    pub(crate) async fn series_list(
        &self,
        pinned: bool,
        below: Option<u64>,
        limit: u32,
    ) -> Result<(Vec<(SeriesKey, SeriesExtent)>, u64)> {
        let below = below.and_then(|number| i64::try_from(number).ok());
        let rows = query(
            "SELECT job_fingerprint, machine_fingerprint, count(*) AS runs, max(number) AS newest FROM runs
             WHERE machine_fingerprint IS NOT NULL AND status IN (SELECT value FROM json_each(?4))
             AND (NOT ?1 OR (job_fingerprint, machine_fingerprint) IN (SELECT job_fingerprint, machine_fingerprint FROM baselines))
             GROUP BY job_fingerprint, machine_fingerprint HAVING newest < ?2 ORDER BY newest DESC LIMIT ?3",
        )
        .bind(pinned)
        .bind(below.unwrap_or(i64::MAX))
        .bind(limit)
        .bind(ENDED)
        .try_map(|row: SqliteRow| Ok((SeriesKey::from_row(&row)?, SeriesExtent::from_row(&row)?)))
        .fetch_all(&self.readers);
        let total = query_scalar(
            "SELECT count(*) FROM (SELECT DISTINCT job_fingerprint, machine_fingerprint FROM runs
             WHERE machine_fingerprint IS NOT NULL AND status IN (SELECT value FROM json_each(?2))
             AND (NOT ?1 OR (job_fingerprint, machine_fingerprint) IN (SELECT job_fingerprint, machine_fingerprint FROM baselines)))",
        )
        .bind(pinned)
        .bind(ENDED)
        .fetch_one(&self.readers);
        Ok(tokio::try_join!(rows, total)?)
    }

    /// A series exists only if it has runs.
    pub(crate) async fn series_extent(&self, series: &SeriesKey) -> Result<SeriesExtent> {
        Ok(query_as(
            "SELECT count(*) AS runs, max(number) AS newest FROM runs
             WHERE job_fingerprint = ? AND machine_fingerprint = ? AND status IN (SELECT value FROM json_each(?))",
        )
        .bind(&series.job_fingerprint)
        .bind(&series.machine_fingerprint)
        .bind(ENDED)
        .fetch_one(&self.readers)
        .await?)
    }

    /// The newest ended runs in a series, ordered by number.
    pub(crate) async fn series_runs(
        &self,
        series: &SeriesKey,
        limit: u32,
    ) -> Result<Vec<SeriesRun>> {
        let rows = query(
            "SELECT number, status, coalesce(started_at_ms, created_at_ms) AS started_at_ms, study, step, host_fingerprint,
                 verdict, fingerprint_version, content, sha256
             FROM runs LEFT JOIN run_values ON run = number
             WHERE job_fingerprint = ? AND machine_fingerprint = ? AND status IN (SELECT value FROM json_each(?))
             ORDER BY number DESC LIMIT ?",
        )
        .bind(&series.job_fingerprint)
        .bind(&series.machine_fingerprint)
        .bind(ENDED)
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        // Parsing thousands of values takes tens of milliseconds.
        let decode = move || rows::readable(rows.iter().rev(), "runs", series_run);
        let mut runs: Vec<SeriesRun> = tokio::task::spawn_blocking(decode).await?;
        let numbers: Vec<u64> = runs.iter().map(|run| run.number).collect();
        let damaged = self.damaged_since_start(numbers).await?;
        for run in runs.iter_mut().filter(|run| damaged.contains(&run.number)) {
            run.values = None;
        }
        Ok(runs)
    }

    /// Returns one run per host fingerprint in a series.
    pub(crate) async fn series_hosts(&self, series: &SeriesKey) -> Result<Vec<HostRun>> {
        let host_run = |row: SqliteRow| {
            Ok(HostRun {
                host_fingerprint: row.try_get("host_fingerprint")?,
                host: json(&row, "host_facts")?.unwrap_or_default(),
                resolved: json(&row, "resolved")?.unwrap_or_default(),
                // A damaged report may not be valid JSON.
                report: json(&row, "report").unwrap_or_default(),
            })
        };
        Ok(query(
            "SELECT host_fingerprint, iif(json_valid(host_facts), host_facts, NULL) AS host_facts, resolved,
                 CASE WHEN NOT json_valid(host_facts) THEN NULL
                     WHEN json_extract(host_facts, '$.storage') IS NULL THEN report END AS report
             FROM (SELECT max(number) AS number, host_fingerprint FROM runs WHERE job_fingerprint = ? AND machine_fingerprint = ?
                 AND host_fingerprint IS NOT NULL GROUP BY host_fingerprint)
             JOIN run_details ON run = number",
        )
        .bind(&series.job_fingerprint)
        .bind(&series.machine_fingerprint)
        .try_map(host_run)
        .fetch_all(&self.readers)
        .await?)
    }

    pub(crate) async fn hostname(&self, run: u64) -> Result<Option<String>> {
        let sql = "SELECT iif(json_valid(host_facts), json_extract(host_facts, '$.hostname'), NULL)
            FROM run_details WHERE run = ?";
        let hostname: Option<Option<String>> = query_scalar(sql)
            .bind(run.cast_signed())
            .fetch_optional(&self.readers)
            .await?;
        Ok(hostname.flatten())
    }

    /// Number of ended runs that lack current fingerprints.
    pub(crate) async fn runs_without_fingerprints(&self) -> Result<u64> {
        Ok(query_scalar(
            "SELECT count(*) FROM runs WHERE fingerprint_version < ? AND status IN (SELECT value FROM json_each(?))",
        )
        .bind(VERSION)
        .bind(ENDED)
        .fetch_one(&self.readers)
        .await?)
    }
}

fn series_run(row: &SqliteRow) -> sqlx::Result<SeriesRun> {
    let study: Option<u64> = row.try_get("study")?;
    let step: Option<u32> = row.try_get("step")?;
    let host: Option<String> = row.try_get("host_fingerprint")?;
    Ok(SeriesRun {
        number: row.try_get("number")?,
        status: variant(row, "status")?,
        started_at_ms: row.try_get("started_at_ms")?,
        step: study.zip(step),
        host_fingerprint: host.unwrap_or_default(),
        verdict: optional_variant(row, "verdict")?,
        values: read_values(row)?,
    })
}
