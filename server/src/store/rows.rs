//! Database rows as protocol types.

use crate::store::enum_text::EnumText;
use leadline_protocol::run::{RequestedRun, Run, RunSummary};
use leadline_protocol::workload_summary::WorkloadSummary;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use sqlx::types::Json;

/// Columns of `runs` that `summary` reads.
pub(super) const SUMMARY: &str = "number, status, created_at_ms, started_at_ms, finished_at_ms, host, jobs, mode, rw, bs, iodepth, numjobs, direct, \
    device, iops, bytes_per_second, lat_p50_ns, lat_p99_ns, lat_max_ns, verdict, name, target, tags, notes, reason, study, step";

/// Columns of `run_details` that `details` reads.
pub(super) const DETAILS: &str = "requested, sample_ms, resolved, host_facts, measure_ms, report, verdict, findings, failure, \
    (SELECT max(seq) FROM events WHERE events.run = run_details.run) AS last_seq, \
    (SELECT count(*) FROM events WHERE events.run = run_details.run AND type = 'sample') AS samples";

/// A row of `runs`. The queue position is not stored.
pub(super) fn summary(row: SqliteRow) -> sqlx::Result<RunSummary> {
    Ok(RunSummary {
        number: row.try_get("number")?,
        status: variant(&row, "status")?,
        name: row.try_get("name")?,
        host: row.try_get("host")?,
        tags: json(&row, "tags")?,
        notes: row.try_get("notes")?,
        created_at_ms: row.try_get("created_at_ms")?,
        started_at_ms: row.try_get("started_at_ms")?,
        finished_at_ms: row.try_get("finished_at_ms")?,
        workload: WorkloadSummary {
            jobs: row.try_get("jobs")?,
            mode: optional_variant(&row, "mode")?,
            target: row.try_get("target")?,
            device: row.try_get("device")?,
            rw: row.try_get("rw")?,
            bs: row.try_get("bs")?,
            iodepth: row.try_get("iodepth")?,
            numjobs: row.try_get("numjobs")?,
            direct: row.try_get("direct")?,
        },
        iops: row.try_get("iops")?,
        bytes_per_second: row.try_get("bytes_per_second")?,
        lat_p50_ns: row.try_get("lat_p50_ns")?,
        lat_p99_ns: row.try_get("lat_p99_ns")?,
        lat_max_ns: row.try_get("lat_max_ns")?,
        verdict: optional_variant(&row, "verdict")?,
        reason: row.try_get("reason")?,
        study: row.try_get("study")?,
        step: row.try_get("step")?,
        queue: None,
    })
}

/// A row of `run_details`.
pub(super) fn details(summary: RunSummary, row: &SqliteRow) -> sqlx::Result<Run> {
    let sample_ms = row.try_get("sample_ms")?;
    Ok(Run {
        summary,
        requested: RequestedRun {
            jobs: json(row, "requested")?,
            sample_ms,
        },
        resolved: optional_json(row, "resolved")?,
        host_facts: optional_json(row, "host_facts")?,
        sample_ms,
        measure_ms: row.try_get("measure_ms")?,
        report: optional_json(row, "report")?,
        verdict: optional_json(row, "verdict")?,
        findings: optional_json(row, "findings")?.unwrap_or_default(),
        failure: optional_json(row, "failure")?,
        last_seq: row.try_get("last_seq")?,
        samples: row.try_get("samples")?,
    })
}

fn variant<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> sqlx::Result<T> {
    row.try_get(column).map(|EnumText(variant)| variant)
}

fn optional_variant<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> sqlx::Result<Option<T>> {
    let variant: Option<EnumText<T>> = row.try_get(column)?;
    Ok(variant.map(|EnumText(variant)| variant))
}

fn json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> sqlx::Result<T> {
    row.try_get(column).map(|Json(value)| value)
}

fn optional_json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> sqlx::Result<Option<T>> {
    let value: Option<Json<T>> = row.try_get(column)?;
    Ok(value.map(|Json(value)| value))
}
