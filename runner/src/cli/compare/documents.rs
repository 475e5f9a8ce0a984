//! JSON results from `leadline-runner run --json`, studies, and runs on a server.

use leadline_compare::group::{Block, ComparedRun};
use leadline_export::fio::result::{FioResult, ResultError, fio_result};
use leadline_protocol::{
    finding::Finding,
    host::HostFacts,
    plan::job::ResolvedJob,
    report::{EndedBy, Report},
    status::RunStatus,
    study::definition::RepeatOrder,
    verdict::Verdicts,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Placeholder for an unknown sampling interval, which does not affect results.
const UNKNOWN_SAMPLE_MS: u32 = 100;

pub(crate) struct StoredResult {
    label: String,
    number: Option<u64>,
    status: RunStatus,
    sample_ms: u32,
    resolved: Vec<ResolvedJob>,
    host: Option<HostFacts>,
    report: Option<Report>,
    verdict: Option<Verdicts>,
    findings: Vec<Finding>,
    pub block: Option<Block>,
    /// ID shared by all copies of a result; `None` if there is no report.
    copy_id: Option<u64>,
}

impl StoredResult {
    pub(crate) fn input(&self) -> ComparedRun<'_> {
        ComparedRun {
            label: self.label.clone(),
            number: self.number,
            status: self.status,
            sample_ms: self.sample_ms,
            resolved: &self.resolved,
            host: self.host.as_ref(),
            report: self.report.as_ref(),
            verdict: self.verdict.as_ref(),
            findings: &self.findings,
            block: self.block.clone(),
            is_after_look: false,
        }
    }
}

/// The results in a document; if `step` is set, only the results of that study step. `source`
/// identifies the document.
///
/// # Errors
/// Returns why the document is not a result.
pub(crate) fn results(
    source: &str,
    mut document: Value,
    step: Option<u64>,
) -> Result<Vec<StoredResult>, String> {
    if let Some(Value::Array(steps)) = document.get_mut("steps").map(Value::take) {
        // Copies of a document represent the same study. Documents from earlier versions have no
        // ID.
        let study = document["file_id"].as_str().unwrap_or(source).to_owned();
        return study_step_results(source, &study, steps, step);
    }
    Ok(vec![result(source, document, step)?])
}

fn study_step_results(
    source: &str,
    study: &str,
    steps: Vec<Value>,
    step: Option<u64>,
) -> Result<Vec<StoredResult>, String> {
    let number = |document: &Value| document["step"].as_u64();
    if step.is_none() && steps.iter().any(|document| number(document) > Some(1)) {
        return Err("this study has multiple steps; append #1 to select the first.".into());
    }
    let is_interleaved = order(&steps) == RepeatOrder::Interleaved;
    let selected = steps
        .into_iter()
        .filter(|document| step.is_none() || number(document) == step);
    selected
        .map(|document| {
            let number = number(&document).unwrap_or(1);
            let repeat = repeat(&document).unwrap_or(1);
            let has_result = document["report"].is_object() || document["jobs"].is_array();
            let label = format!("{source}#{number} ({repeat})");
            let mut result = if has_result {
                result(&label, document, None)?
            } else {
                step_without_result(&label, document)?
            };
            result.block = is_interleaved.then(|| Block {
                study: study.to_owned(),
                repeat,
            });
            Ok(result)
        })
        .collect()
}

/// The order in which the steps of a study ran.
pub(crate) fn order(steps: &[Value]) -> RepeatOrder {
    RepeatOrder::of_repeats(steps.iter().filter_map(repeat))
}

fn repeat(document: &Value) -> Option<u32> {
    u32::try_from(document["repeat"].as_u64()?).ok()
}

/// Converts a step that failed before it had a result, or that did not start.
fn step_without_result(label: &str, mut document: Value) -> Result<StoredResult, String> {
    let was_skipped = document["exit_code"].is_null();
    let status: Option<RunStatus> = take(&mut document, "status")?;
    Ok(StoredResult {
        label: label.to_owned(),
        number: None,
        status: status.unwrap_or(if was_skipped {
            RunStatus::Cancelled
        } else {
            RunStatus::Failed
        }),
        sample_ms: UNKNOWN_SAMPLE_MS,
        resolved: Vec::new(),
        host: None,
        report: None,
        verdict: None,
        findings: Vec::new(),
        block: None,
        copy_id: None,
    })
}

fn result(name: &str, mut document: Value, step: Option<u64>) -> Result<StoredResult, String> {
    if let Some(result) = fio_result(&document, step).map_err(|error| result_error_text(&error))? {
        return Ok(stored_fio_result(name, &document, result));
    }
    // In results from a server, `jobs` is the number of jobs instead of a list.
    let jobs = ["resolved", "jobs"]
        .into_iter()
        .find(|field| document[field].is_array());
    let copy_id = copy_id(&document["report"]);
    let report: Option<Report> = take(&mut document, "report")?;
    if let Some(field) = report.as_ref().and_then(Report::impossible_number) {
        return Err(format!("the report is damaged: {field} is negative."));
    }
    if let Some(contradiction) = report.as_ref().and_then(Report::contradiction) {
        return Err(format!("the report is damaged: {contradiction}."));
    }
    let number = document["number"].as_u64();
    if jobs.is_none() && report.is_none() && number.is_none() {
        return Err("this is not a run result.".into());
    }
    let resolved: Option<Vec<ResolvedJob>> = match jobs {
        Some(field) => take(&mut document, field)?,
        None => None,
    };
    let host = if document["host_facts"].is_object() {
        "host_facts"
    } else {
        "host"
    };
    let status: Option<RunStatus> = take(&mut document, "status")?;
    let verdict: Option<Verdicts> = take(&mut document, "verdict")?;
    if verdict
        .as_ref()
        .is_some_and(|verdicts| !verdicts.has_valid_shares())
    {
        return Err("the verdict is damaged: its shares add up to more than 1.".into());
    }
    Ok(StoredResult {
        label: name.to_owned(),
        number,
        status: status.unwrap_or_else(|| status_from_report(report.as_ref())),
        sample_ms: take(&mut document, "sample_ms")?.unwrap_or(UNKNOWN_SAMPLE_MS),
        resolved: resolved.unwrap_or_default(),
        host: if document[host].is_object() {
            take(&mut document, host)?
        } else {
            None
        },
        verdict,
        findings: take(&mut document, "findings")?.unwrap_or_default(),
        block: None,
        copy_id,
        report,
    })
}

fn result_error_text(error: &ResultError) -> String {
    match error {
        ResultError::MultipleGroups(_) => format!("{error}; append #1 to select the first."),
        error => format!("{error}."),
    }
}

fn stored_fio_result(name: &str, document: &Value, result: FioResult) -> StoredResult {
    StoredResult {
        label: name.to_owned(),
        number: None,
        status: status_from_report(Some(&result.report)),
        sample_ms: UNKNOWN_SAMPLE_MS,
        resolved: Vec::new(),
        host: None,
        report: Some(result.report),
        verdict: None,
        findings: vec![result.finding],
        block: None,
        copy_id: copy_id(document),
    }
}

/// Reports of different runs are never equal, because they contain times in nanoseconds.
fn copy_id(report: &Value) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    report.is_object().then(|| {
        report.to_string().hash(&mut hasher);
        hasher.finish()
    })
}

/// Gives each result in `b` that is a copy of a result in `a` the same label as the original, which
/// marks both as the same run.
pub(crate) fn label_copies(a: &[StoredResult], b: &mut [StoredResult]) {
    let of_a: HashMap<u64, &String> = a
        .iter()
        .filter_map(|result| Some((result.copy_id?, &result.label)))
        .collect();
    for result in b {
        if let Some(label) = result.copy_id.and_then(|id| of_a.get(&id)) {
            result.label = String::clone(label);
        }
    }
}

/// The labels of the first two results that are copies of the same run.
pub(crate) fn find_copies(results: &[StoredResult]) -> Option<(&str, &str)> {
    let mut seen = HashMap::new();
    for result in results {
        let Some(id) = result.copy_id else { continue };
        if let Some(first) = seen.insert(id, &result.label) {
            return Some((first, &result.label));
        }
    }
    None
}

fn take<T: DeserializeOwned>(document: &mut Value, field: &str) -> Result<Option<T>, String> {
    let value = document.get_mut(field).map_or(Value::Null, Value::take);
    serde_json::from_value(value).map_err(|error| format!("{field} is invalid: {error}."))
}

/// The status that the server assigns to a run with this report.
fn status_from_report(report: Option<&Report>) -> RunStatus {
    match report {
        Some(report) if report.ended_by == Some(EndedBy::Signal) => RunStatus::Cancelled,
        Some(report)
            if report.ended_by == Some(EndedBy::Error)
                || report.errors.total > 0
                || report.stalled_job().is_some()
                || report.damaged_job().is_some()
                || report.violated_limit().is_some() =>
        {
            RunStatus::Failed
        }
        Some(_) => RunStatus::Done,
        None => RunStatus::Failed,
    }
}
