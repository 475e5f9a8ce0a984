//! Rows as they come out of the database, and the words that they stand for.

use crate::store::from_word;
use leadline_protocol::plan::resolved::{Mode, ResolvedJob};
use leadline_protocol::run::{RequestedRun, Run, RunSummary};
use leadline_protocol::verdict::VerdictClass;
use leadline_protocol::workload::Workload;
use serde::de::DeserializeOwned;
use sqlx::FromRow;

/// The columns of `RunRow`, in one place for all queries.
pub(crate) const SUMMARY: &str = "number, status, created_at_ms, started_at_ms, finished_at_ms, host, jobs, mode, rw, bs, iodepth, numjobs, direct, \
    device, iops, bytes_per_second, lat_p50_ns, lat_p99_ns, lat_max_ns, verdict, name, target, tags, notes, reason, study, step";

/// A row of `runs`.
#[derive(FromRow)]
pub(crate) struct RunRow {
    number: i64,
    status: String,
    created_at_ms: i64,
    started_at_ms: Option<i64>,
    finished_at_ms: Option<i64>,
    host: String,
    jobs: i64,
    mode: Option<String>,
    rw: String,
    bs: String,
    iodepth: i64,
    numjobs: i64,
    direct: bool,
    device: Option<String>,
    iops: Option<f64>,
    bytes_per_second: Option<f64>,
    lat_p50_ns: Option<i64>,
    lat_p99_ns: Option<i64>,
    lat_max_ns: Option<i64>,
    verdict: Option<String>,
    name: String,
    target: String,
    tags: String,
    notes: String,
    reason: Option<String>,
    study: Option<i64>,
    step: Option<i64>,
}

impl RunRow {
    /// What it says; its place in the queue is not known here.
    pub(crate) fn summary(self) -> anyhow::Result<RunSummary> {
        Ok(RunSummary {
            number: self.number.cast_unsigned(),
            status: from_word(&self.status)?,
            name: self.name,
            host: self.host,
            tags: serde_json::from_str(&self.tags)?,
            notes: self.notes,
            created_at_ms: self.created_at_ms.cast_unsigned(),
            started_at_ms: self.started_at_ms.map(i64::cast_unsigned),
            finished_at_ms: self.finished_at_ms.map(i64::cast_unsigned),
            workload: Workload {
                jobs: u32::try_from(self.jobs)?,
                mode: self.mode.as_deref().map(from_word::<Mode>).transpose()?,
                target: self.target,
                device: self.device,
                rw: self.rw,
                bs: self.bs,
                iodepth: u32::try_from(self.iodepth)?,
                numjobs: u32::try_from(self.numjobs)?,
                direct: self.direct,
            },
            iops: self.iops,
            bytes_per_second: self.bytes_per_second,
            lat_p50_ns: self.lat_p50_ns.map(i64::cast_unsigned),
            lat_p99_ns: self.lat_p99_ns.map(i64::cast_unsigned),
            lat_max_ns: self.lat_max_ns.map(i64::cast_unsigned),
            verdict: self
                .verdict
                .as_deref()
                .map(from_word::<VerdictClass>)
                .transpose()?,
            reason: self.reason,
            study: self.study.map(i64::cast_unsigned),
            step: self.step.map(u32::try_from).transpose()?,
            queue: None,
        })
    }
}

/// A row of `run_details`, with what is counted of its events.
#[derive(FromRow)]
pub(crate) struct DetailRow {
    asked: String,
    sample_ms: i64,
    resolved: Option<String>,
    host_facts: Option<String>,
    measure_ms: Option<i64>,
    report: Option<String>,
    verdict: Option<String>,
    findings: Option<String>,
    failure: Option<String>,
    last_seq: i64,
    samples: i64,
}

impl DetailRow {
    /// The whole run.
    pub(crate) fn run(self, summary: RunSummary) -> anyhow::Result<Run> {
        let sample_ms = u32::try_from(self.sample_ms)?;
        Ok(Run {
            summary,
            requested: RequestedRun {
                jobs: serde_json::from_str(&self.asked)?,
                sample_ms,
            },
            resolved: read::<Vec<ResolvedJob>>(self.resolved)?,
            host_facts: read(self.host_facts)?,
            sample_ms,
            measure_ms: self.measure_ms.map(i64::cast_unsigned),
            report: read(self.report)?,
            verdict: read(self.verdict)?,
            findings: read(self.findings)?.unwrap_or_default(),
            failure: read(self.failure)?,
            last_seq: self.last_seq.cast_unsigned(),
            samples: self.samples.cast_unsigned(),
        })
    }
}

fn read<T: DeserializeOwned>(text: Option<String>) -> anyhow::Result<Option<T>> {
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}
