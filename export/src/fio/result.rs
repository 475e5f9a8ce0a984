//! Reads JSON results from fio 3 (`--output-format=json` or `json+`) as reports. Numbers that fio
//! does not report are missing, as are the verdict and the host facts.

mod client_options;
mod clones;
mod contradictions;
mod document;
mod duplicates;
mod error;
mod fields;
mod latency;
mod options;
mod output;
mod settings;
mod stats;

pub use document::{MAX_JOBS, check_fields, groups};
pub use error::ResultError;
pub use output::{FoundResult, find_result};

use client_options::merge_client_options;
use contradictions::Expected;
use document::Jobs;
use leadline_protocol::{
    finding::{Finding, Severity::Note},
    query::MAX_NUMBER,
    report::{
        EndedBy, ErrorReport, Report,
        foreign::{ForeignResult, LatencyKind, Source},
    },
    workload_summary::WorkloadSummary,
};
use serde_json::{Value, json};

/// Report fields that fio's results do not fill, including the verdict.
const UNOBSERVED: [&str; 10] = [
    "cgroup",
    "cpu",
    "device",
    "ended_by",
    "gauge",
    "memory",
    "pressure",
    "start_skew_ns",
    "storage",
    "verdict",
];
const REASON: &str = "Leadline did not observe this run: fio measured it, and these values are not read from fio's results.";
/// The reason for results that Leadline exported.
const EXPORT_REASON: &str =
    "Leadline measured this run, but results in fio's format do not contain these values.";
/// Part of the version in Leadline's exports, such as `fio-3.33-leadline-0.1.0`.
const EXPORT_MARK: &str = "-leadline-";

pub struct FioResult {
    pub report: Report,
    pub finding: Finding,
    /// Options of each job, with fio's names and values. Clones of a job have one entry.
    pub jobs: Vec<Value>,
    pub workload: WorkloadSummary,
    /// Why the jobs failed; `None` if all succeeded.
    pub failure: Option<String>,
}

impl FioResult {
    /// Marks the result as incomplete, because a signal terminated fio.
    #[must_use]
    pub fn interrupted_by(mut self, signal: u8) -> Self {
        let reason = || format!("fio was terminated early by signal {signal}.");
        self.failure = Some(self.failure.unwrap_or_else(reason));
        self.report.ended_by = Some(EndedBy::Signal);
        self
    }
}

/// Converts a result to a report. `step` selects one of the groups of jobs that ran one after
/// another (`stonewall`), starting at 1.
///
/// Returns `None` if the document is not from fio.
///
/// # Errors
/// Returns why the result cannot be used, such as a missing or negative number.
pub fn fio_result(document: &Value, step: Option<u64>) -> Result<Option<FioResult>, ResultError> {
    let Some(version) = document["fio version"].as_str() else {
        return Ok(None);
    };
    let document = &*merge_client_options(document);
    let jobs = document::jobs(document, version, step)?;
    let report = report(version, document, &jobs)?;
    let options = options::jobs(document, &jobs.described)?;
    Ok(Some(FioResult {
        workload: options::workload(&options)?,
        jobs: options,
        finding: finding(version, &report),
        failure: failure(&jobs.described),
        report,
    }))
}

fn report(version: &str, document: &Value, jobs: &Jobs) -> Result<Report, ResultError> {
    let measured = &jobs.measured;
    let mut runtime_ms = 0;
    for (index, job) in jobs.described.iter().enumerate() {
        runtime_ms = runtime_ms.max(runtime_of(index, job)?);
    }
    let ended_ms = document::timestamp_ms(document)?;
    let mut errors = 0_u64;
    let mut has_error = false;
    for (index, job) in jobs.described.iter().enumerate() {
        has_error |= has_error_number(index, job)?;
        errors = errors.saturating_add(failed_ios(index, job)?);
    }
    let read = stats::direction(measured, "read")?;
    let write = stats::direction(measured, "write")?;
    let trim = stats::direction(measured, "trim")?;
    check_directions(document, jobs)?;
    let kinds = [&read, &write, &trim].map(|direction| direction.percentiles_of);
    let foreign = ForeignResult {
        source: source_of(version),
        version: version.to_owned(),
        hostnames: document::hostnames(&jobs.described),
        added_results: measured.len() as u32,
        percentiles_of: kinds.into_iter().flatten().max_by_key(|kind| *kind as u8),
        settings: settings::settings(version, document, jobs),
    };
    let reason = match source_of(version) {
        Source::LeadlineExport => EXPORT_REASON,
        _ => REASON,
    };
    let absent = UNOBSERVED.map(|name| (name.to_owned(), reason.into()));
    let report = json!({
        "started_at_ms": ended_ms.saturating_sub(runtime_ms), "duration_ms": runtime_ms as f64,
        "ended_by": (has_error || errors > 0).then_some(EndedBy::Error), "phases": [],
        "read": read.stats, "write": write.stats, "trim": trim.stats, "sync": stats::sync(measured)?,
        "jobs": [], "errors": ErrorReport { total: errors, ..ErrorReport::default() },
        "start_skew_ns": null, "foreign": foreign, "absent": serde_json::Map::from_iter(absent),
    });
    Ok(serde_json::from_value(report).expect("the report is valid"))
}

/// Runtime of a job in ms. `job_runtime` is used only if no direction has a runtime.
fn runtime_of(index: usize, job: &Value) -> Result<u64, ResultError> {
    for name in document::DIRECTIONS {
        time(
            format!("jobs[{index}].{name}.runtime"),
            &job[name]["runtime"],
        )?;
    }
    let job_runtime_ms = time(format!("jobs[{index}].job_runtime"), &job["job_runtime"])?;
    match document::runtime_ms(job) {
        0 => Ok(job_runtime_ms),
        runtime_ms => Ok(runtime_ms),
    }
}

/// Parses a time in ms; returns 0 if it is missing.
fn time(field: String, value: &Value) -> Result<u64, ResultError> {
    let number = match value {
        Value::Null => Some(0),
        value => value.as_u64().filter(|number| *number <= MAX_NUMBER),
    };
    number.ok_or_else(|| ResultError::invalid(field, "is not a time in milliseconds"))
}

/// The program that a version identifies.
fn source_of(version: &str) -> Source {
    match version.contains(EXPORT_MARK) {
        true => Source::LeadlineExport,
        false => Source::Fio,
    }
}

fn check_directions(document: &Value, jobs: &Jobs) -> Result<(), ResultError> {
    let in_flight = options::in_flight(document, &jobs.described);
    for (index, job) in jobs.measured.iter().enumerate() {
        for (direction, name) in document::DIRECTIONS.iter().enumerate() {
            // fio counts failed I/Os, but not their bytes.
            let has_failed = error_of(job) != Some(0) || failed_ios(index, job)? > 0;
            let expected = Expected {
                in_flight,
                block: options::block(document, job, direction).filter(|_| !has_failed),
            };
            contradictions::check(&format!("jobs[{index}].{name}"), &job[*name], expected)?;
        }
        contradictions::check_runtime(&format!("jobs[{index}]"), job)?;
    }
    Ok(())
}

/// Number of failed I/Os after which the job continued (`continue_on_error`). The I/O that ended a
/// job is not counted, because a violated limit, such as `max_latency`, is also an error.
fn failed_ios(index: usize, job: &Value) -> Result<u64, ResultError> {
    match &job["total_err"] {
        Value::Null => Ok(0),
        value => value
            .as_u64()
            .filter(|count| *count <= MAX_NUMBER)
            .ok_or_else(|| {
                ResultError::invalid(
                    format!("jobs[{index}].total_err"),
                    "is not a non-negative integer",
                )
            }),
    }
}

fn has_error_number(index: usize, job: &Value) -> Result<bool, ResultError> {
    let error = error_of(job).ok_or_else(|| {
        ResultError::invalid(format!("jobs[{index}].error"), "is not an error number")
    })?;
    Ok(error != 0)
}

/// 0 without an error. Results of clients may omit it.
fn error_of(job: &Value) -> Option<i64> {
    match &job["error"] {
        Value::Null => Some(0),
        value => value.as_i64(),
    }
}

fn failure(jobs: &[&Value]) -> Option<String> {
    let name = |job: &Value| job["jobname"].as_str().unwrap_or_default().to_owned();
    let ended = jobs.iter().find_map(|job| {
        let error = error_of(job).filter(|error| *error != 0)?;
        Some(format!("fio ended job {} with error {error}.", name(job)))
    });
    ended.or_else(|| {
        let mut failed = jobs
            .iter()
            .filter_map(|job| Some((job, job["total_err"].as_u64()?)));
        let (job, count) = failed.find(|(_, count)| *count > 0)?;
        Some(format!("Job {}: {count} I/Os failed.", name(job)))
    })
}

fn finding(version: &str, report: &Report) -> Finding {
    let foreign = report.foreign.as_ref();
    let percentiles = match foreign.and_then(|foreign| foreign.percentiles_of) {
        Some(LatencyKind::Lat) => "its percentiles are based on lat, as in Leadline",
        Some(LatencyKind::Clat) => {
            "its percentiles are based on clat, which excludes submission; run fio with lat_percentiles=1 for lat percentiles"
        }
        None => "it has no percentiles",
    };
    let sentence = match source_of(version) {
        Source::LeadlineExport => format!(
            "This Leadline result was exported in fio's format ({version}), which does not include the verdict and some other data."
        ),
        _ => format!("This is a {version} result: it has no verdict, and {percentiles}."),
    };
    let remedy = match source_of(version) {
        Source::LeadlineExport => {
            "Open the run on the server that measured it, or its HTML export."
        }
        _ => "Run the same job with Leadline to see which layer served the I/Os.",
    };
    let jobs = foreign.map_or(0, |foreign| foreign.added_results);
    Finding::new(
        Note,
        "result_of_fio",
        sentence,
        json!({"jobs": jobs}),
        remedy,
    )
}
