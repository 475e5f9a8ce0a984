//! Converts database rows to protocol types.

use leadline_protocol::{
    format::hex,
    run::{RequestedRun, Run, RunSummary},
    workload_summary::WorkloadSummary,
};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use sqlx::{Row, sqlite::SqliteRow, types::Json};
use std::str::FromStr;
use strum::ParseError;

/// Bit in the `checksums` column for a run that has ended.
const FINAL_BIT: i64 = 8;
/// 64 bits are enough: the checksum only has to distinguish versions of the same run.
const ETAG_BYTES: usize = 8;

/// Converts a row of `runs`. The queue position is not stored, and checksums are not verified.
pub(super) fn summary(row: SqliteRow) -> sqlx::Result<RunSummary> {
    let name: String = row.try_get("name")?;
    // Annotations have no checksum. Ignore unreadable tags, so one run cannot make the whole list
    // fail.
    let tags: Vec<String> = json(&row, "tags").ok().flatten().unwrap_or_default();
    let notes: String = row.try_get("notes")?;
    Ok(RunSummary {
        number: row.try_get("number")?,
        status: variant(&row, "status")?,
        etag: etag(&name, &tags, &notes),
        name,
        host: known(row.try_get("host")?),
        source: variant(&row, "source")?,
        tags,
        notes,
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
        verdict_class: optional_variant(&row, "verdict")?,
        damaged: false,
        reason: row.try_get("reason")?,
        study: row.try_get("study")?,
        step: row.try_get("step")?,
        repeat: row.try_get("repeat")?,
        retry_of: row.try_get("retry_of")?,
        job_fingerprint: row.try_get("job_fingerprint")?,
        host_fingerprint: row.try_get("host_fingerprint")?,
        machine_fingerprint: row.try_get("machine_fingerprint")?,
        queue: None,
    })
}

/// The column is empty if the host is unknown.
fn known(host: String) -> Option<String> {
    (!host.is_empty()).then_some(host)
}

fn etag(name: &str, tags: &[String], notes: &str) -> String {
    let digest = Sha256::digest(format!("{name:?} {tags:?} {notes:?}"));
    hex(&digest[..ETAG_BYTES])
}

/// Converts a row of `run_details`, or nulls if it is missing, with `last_seq` and the number of
/// samples. A damaged result is omitted. Annotations are in another table.
pub(super) fn details(summary: RunSummary, row: &SqliteRow) -> sqlx::Result<Run> {
    let damaged = summary.damaged;
    let sample_ms = row
        .try_get::<Option<u32>, _>("sample_ms")?
        .unwrap_or_default();
    Ok(Run {
        summary,
        requested: RequestedRun {
            jobs: read_damaged_json(row, "requested", damaged)?.unwrap_or_default(),
            sample_ms,
        },
        resolved: read_damaged_json(row, "resolved", damaged)?,
        host_facts: result(row, "host_facts", damaged)?,
        sample_ms,
        measure_ms: row.try_get("measure_ms")?,
        report: result(row, "report", damaged)?,
        verdict: result(row, "verdict", damaged)?,
        findings: result(row, "findings", damaged)?.unwrap_or_default(),
        has_checksum: row
            .try_get::<Option<i64>, _>("checksums")?
            .is_some_and(|checksums| checksums & FINAL_BIT != 0),
        annotations: Vec::new(),
        failure: read_damaged_json(row, "failure", damaged)?,
        last_seq: row.try_get("last_seq")?,
        samples: row.try_get("samples")?,
    })
}

/// Marks a damaged run, and removes values that may be damaged.
pub(super) fn mark_damaged(summary: &mut RunSummary) {
    summary.damaged = true;
    summary.iops = None;
    summary.bytes_per_second = None;
    summary.lat_p50_ns = None;
    summary.lat_p99_ns = None;
    summary.lat_max_ns = None;
    summary.verdict_class = None;
    summary.job_fingerprint = None;
    summary.host_fingerprint = None;
    summary.machine_fingerprint = None;
}

fn result<T: DeserializeOwned>(
    row: &SqliteRow,
    column: &str,
    damaged: bool,
) -> sqlx::Result<Option<T>> {
    if damaged { Ok(None) } else { json(row, column) }
}

/// Returns `None` for damaged JSON that cannot be read.
fn read_damaged_json<T: DeserializeOwned>(
    row: &SqliteRow,
    column: &str,
    damaged: bool,
) -> sqlx::Result<Option<T>> {
    match json(row, column) {
        Err(_) if damaged => Ok(None),
        value => value,
    }
}

pub(super) fn variant<T: FromStr<Err = ParseError>>(
    row: &SqliteRow,
    column: &str,
) -> sqlx::Result<T> {
    parse(row.try_get(column)?)
}

pub(super) fn optional_variant<T: FromStr<Err = ParseError>>(
    row: &SqliteRow,
    column: &str,
) -> sqlx::Result<Option<T>> {
    let name: Option<&str> = row.try_get(column)?;
    name.map(parse).transpose()
}

fn parse<T: FromStr<Err = ParseError>>(name: &str) -> sqlx::Result<T> {
    name.parse()
        .map_err(|error: ParseError| sqlx::Error::Decode(error.into()))
}

pub(super) fn json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> sqlx::Result<Option<T>> {
    let value: Option<Json<T>> = row.try_get(column)?;
    Ok(value.map(|Json(value)| value))
}
