//! Converts database rows to protocol types.

use crate::store::Store;
use leadline_protocol::{
    format::hex,
    run::{RequestedRun, Run, RunSummary},
    workload_summary::WorkloadSummary,
};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use sqlx::{Decode, Row, Sqlite, Type, query_scalar, sqlite::SqliteRow, types::Json};
use std::str::FromStr;
use strum::ParseError;

/// Bit in the `checksums` column for a run that has ended.
const FINAL_BIT: i64 = 8;
/// 64 bits are enough: the checksum only has to distinguish versions of the same run.
const ETAG_BYTES: usize = 8;

/// The columns of a row. A value that cannot be decoded is replaced by its type's default, so that
/// one changed value does not make a whole list fail.
struct Columns<'r> {
    row: &'r SqliteRow,
    has_unreadable: bool,
}

impl<'r> Columns<'r> {
    fn new(row: &'r SqliteRow) -> Self {
        Self {
            row,
            has_unreadable: false,
        }
    }

    /// # Errors
    /// The column does not exist.
    fn get<T>(&mut self, column: &str) -> sqlx::Result<T>
    where
        T: Decode<'r, Sqlite> + Type<Sqlite> + Default,
    {
        match self.row.try_get(column) {
            Err(sqlx::Error::ColumnDecode { .. }) => {
                self.has_unreadable = true;
                Ok(T::default())
            }
            value => value,
        }
    }

    fn variant<T: FromStr<Err = ParseError>>(&mut self, column: &str) -> sqlx::Result<Option<T>> {
        let name: Option<&str> = self.get(column)?;
        let value = name.map(str::parse).transpose();
        self.has_unreadable |= value.is_err();
        Ok(value.ok().flatten())
    }
}

/// Tables whose rows have a number and can be deleted by it, even if they cannot be decoded.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    Schedules,
    Webhooks,
}

impl Store {
    /// The numbers of all rows, in order.
    pub(crate) async fn numbers(&self, table: Table) -> anyhow::Result<Vec<u64>> {
        let sql = match table {
            Table::Schedules => "SELECT number FROM schedules WHERE number > 0 ORDER BY number",
            Table::Webhooks => "SELECT number FROM webhooks WHERE number > 0 ORDER BY number",
        };
        Ok(query_scalar(sql).fetch_all(&self.readers).await?)
    }
}

/// Decodes rows of a table, without those that cannot be decoded.
pub(super) fn readable<'r, T>(
    rows: impl IntoIterator<Item = &'r SqliteRow>,
    table: &str,
    decode: impl Fn(&'r SqliteRow) -> sqlx::Result<T>,
) -> Vec<T> {
    let decode = |row| {
        decode(row)
            .inspect_err(|error| tracing::error!("skipped a damaged row of {table}: {error}"))
            .ok()
    };
    rows.into_iter().filter_map(decode).collect()
}

/// Converts a row of `runs`. The queue position is not stored, and checksums are not verified. A
/// run with a value that cannot be decoded is damaged.
pub(super) fn summary(row: &SqliteRow) -> sqlx::Result<RunSummary> {
    let mut columns = Columns::new(row);
    let name: String = columns.get("name")?;
    // Tags have no checksum. Ignore unreadable ones, so one run cannot make the whole list fail.
    let tags: Vec<String> = json(row, "tags").ok().flatten().unwrap_or_default();
    let notes: String = columns.get("notes")?;
    let mut summary = RunSummary {
        number: row.try_get("number")?,
        status: variant(row, "status")?,
        etag: etag(&name, &tags, &notes),
        name,
        host: known(columns.get("host")?),
        source: variant(row, "source")?,
        tags,
        notes,
        created_at_ms: columns.get("created_at_ms")?,
        started_at_ms: columns.get("started_at_ms")?,
        finished_at_ms: columns.get("finished_at_ms")?,
        workload: WorkloadSummary {
            jobs: columns.get("jobs")?,
            mode: columns.variant("mode")?,
            target: columns.get("target")?,
            device: columns.get("device")?,
            rw: columns.get("rw")?,
            bs: columns.get("bs")?,
            iodepth: columns.get("iodepth")?,
            numjobs: columns.get("numjobs")?,
            direct: columns.get("direct")?,
        },
        iops: columns.get("iops")?,
        bytes_per_second: columns.get("bytes_per_second")?,
        lat_p50_ns: columns.get("lat_p50_ns")?,
        lat_p99_ns: columns.get("lat_p99_ns")?,
        lat_max_ns: columns.get("lat_max_ns")?,
        verdict_class: columns.variant("verdict")?,
        damaged: false,
        reason: columns.get("reason")?,
        study: columns.get("study")?,
        step: columns.get("step")?,
        repeat: columns.get("repeat")?,
        retry_of: columns.get("retry_of")?,
        job_fingerprint: columns.get("job_fingerprint")?,
        host_fingerprint: columns.get("host_fingerprint")?,
        machine_fingerprint: columns.get("machine_fingerprint")?,
        queue: None,
    };
    if columns.has_unreadable {
        mark_damaged(&mut summary);
    }
    Ok(summary)
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
pub(super) fn details(mut summary: RunSummary, row: &SqliteRow) -> sqlx::Result<Run> {
    let mut columns = Columns::new(row);
    let sample_ms = columns.get::<Option<u32>>("sample_ms")?.unwrap_or_default();
    let measure_ms = columns.get("measure_ms")?;
    if columns.has_unreadable {
        mark_damaged(&mut summary);
    }
    let damaged = summary.damaged;
    Ok(Run {
        summary,
        requested: RequestedRun {
            jobs: read_damaged_json(row, "requested", damaged)?.unwrap_or_default(),
            sample_ms,
        },
        resolved: read_damaged_json(row, "resolved", damaged)?,
        host_facts: result(row, "host_facts", damaged)?,
        sample_ms,
        measure_ms,
        report: result(row, "report", damaged)?,
        verdict: result(row, "verdict", damaged)?,
        findings: result(row, "findings", damaged)?.unwrap_or_default(),
        has_checksum: row
            .try_get::<Option<i64>, _>("checksums")?
            .is_some_and(|checksums| checksums & FINAL_BIT != 0),
        annotations: Vec::new(),
        damaged_annotations: Vec::new(),
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
