//! Parses request bodies and reports every invalid field. The runner validates job options. Pure.

use crate::studies::submit::StudyRequest;
use leadline_protocol::{
    host::LOCAL_HOST,
    import::ImportRequest,
    job::run_spec::{CONFIRM_EXAMPLE, parse_run},
    limits::{BASELINE_RUNS, MAX_JOB_TEXT, MAX_NAME, MAX_NOTES, MAX_TAG, MAX_TAGS, NOT_IN_TAGS},
    problem::{Problem, object_reader::ObjectReader},
    run::{RerunRequest, RunPatch, RunRequest},
    study::{parse::parse_study, summary::StudyPatch},
    text::is_deceptive,
    trend::BaselineRequest,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const RUN_FIELDS: &[&str] = &[
    "jobs",
    "job_text",
    "variables",
    "sample_ms",
    "host",
    "name",
    "tags",
    "notes",
    "confirm",
];

/// Body of `POST /plan` and `POST /runs`.
pub(crate) fn run_request(body: Value) -> Result<RunRequest, Vec<Problem>> {
    let requested = body["jobs"].as_array().cloned().unwrap_or_default();
    let mut fields = ObjectReader::new(body, "", RUN_FIELDS);
    let job_text = fields.text("job_text", MAX_JOB_TEXT);
    let request = RunRequest {
        jobs: match &job_text {
            Some(_) => reject_jobs(&mut fields),
            None => jobs(&mut fields),
        },
        variables: variables(&mut fields),
        job_text,
        sample_ms: sample_ms(&mut fields),
        host: host(&mut fields),
        name: fields.name("name", MAX_NAME),
        tags: tags(&mut fields),
        notes: fields.text("notes", MAX_NOTES),
        confirm: fields.texts("confirm", CONFIRM_EXAMPLE),
    };
    fields.finish(request).map_err(|mut problems| {
        problems.extend(job_problems(&requested));
        problems
    })
}

/// Problems with job options. They are also checked here, because the runner reports them only if
/// all other fields are valid.
pub(crate) fn job_problems(jobs: &[Value]) -> Vec<Problem> {
    match jobs {
        [] => Vec::new(),
        jobs => parse_run(&json!({ "jobs": jobs }))
            .err()
            .unwrap_or_default(),
    }
}

/// Adds problems, skipping fields that already have one or are inside an object that has one.
pub(super) fn add_remaining_problems(problems: &mut Vec<Problem>, others: Vec<Problem>) {
    for other in others {
        let field = other.field.as_deref().unwrap_or_default();
        let is_named = |problem: &Problem| {
            let name = problem.field.as_deref().unwrap_or_default();
            let rest = field.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        if !problems.iter().any(is_named) {
            problems.push(other);
        }
    }
}

/// Body of `POST /import`.
pub(crate) fn import_request(body: Value) -> Result<ImportRequest, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", &["text", "variables"]);
    let text = fields.text("text", MAX_JOB_TEXT);
    if text.is_none() && !fields.is_rejected("text") {
        let remedy = "Add \"text\":\"[job]\\nrw=read\\n...\".";
        fields.reject("missing", "text", "text is required.", remedy);
    }
    let request = ImportRequest {
        text: text.unwrap_or_default(),
        variables: variables(&mut fields),
    };
    fields.finish(request)
}

/// Body of `POST /studies` and `POST /studies/plan`. `host` and `tags` are not part of the study
/// document.
pub(crate) fn study_request(body: Value) -> Result<StudyRequest, Vec<Problem>> {
    let mut document = body;
    let mut own = Map::new();
    if let Some(object) = document.as_object_mut() {
        for name in ["host", "tags"] {
            own.extend(object.shift_remove_entry(name));
        }
    }
    let mut fields = ObjectReader::new(Value::Object(own), "", &[]);
    let host = host(&mut fields);
    let tags = tags(&mut fields);
    let parsed = parse_study(document.clone());
    let confirm = parsed.as_ref().ok().map(|study| study.confirm.clone());
    let mut problems = parsed.err().unwrap_or_default();
    problems.extend(fields.finish(()).err().unwrap_or_default());
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(StudyRequest {
        document,
        host,
        tags,
        confirm,
    })
}

/// Body of `POST /runs/{n}/rerun`.
pub(crate) fn rerun_request(body: Value) -> Result<RerunRequest, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", &["name", "tags", "patch", "confirm"]);
    let request = RerunRequest {
        patch: fields.object("patch", "{\"direct\": 1}"),
        name: fields.name("name", MAX_NAME),
        tags: tags(&mut fields),
        confirm: fields.texts("confirm", CONFIRM_EXAMPLE),
    };
    fields.finish(request)
}

/// Body of `PATCH /runs/{n}`.
pub(crate) fn run_patch(body: Value) -> Result<RunPatch, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", &["name", "tags", "notes"]);
    let patch = RunPatch {
        name: fields.name("name", MAX_NAME),
        tags: tags(&mut fields),
        notes: fields.text("notes", MAX_NOTES),
    };
    fields.finish(patch)
}

/// Body of `PATCH /studies/{n}`.
pub(crate) fn study_patch(body: Value) -> Result<StudyPatch, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", &["name"]);
    let name = fields.name("name", MAX_NAME).unwrap_or_default();
    let name = name.trim();
    if name.is_empty() && !fields.is_rejected("name") {
        fields.reject(
            "missing",
            "name",
            "name is required.",
            "Add \"name\":\"...\".",
        );
    }
    fields.finish(StudyPatch { name: name.into() })
}

/// Body of `PUT /trends/{job}/{machine}/baseline`.
pub(crate) fn baseline_request(body: Value) -> Result<BaselineRequest, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", &["runs", "threshold_percent"]);
    let runs = fields.list("runs", "\"runs\":[12,13]").unwrap_or_default();
    if !BASELINE_RUNS.contains(&runs.len()) && !fields.is_rejected("runs") {
        let detail = format!("The baseline contains {} runs.", runs.len());
        let remedy = format!("Use 1 to {} runs from the series.", BASELINE_RUNS.end());
        fields.reject("bad_value", "runs", detail, remedy);
    }
    let numbers: Option<Vec<u64>> = runs.iter().map(Value::as_u64).collect();
    if numbers.is_none() {
        let detail = "runs must be a list of run numbers.";
        fields.reject("wrong_type", "runs", detail, "For example: [12,13].");
    }
    let threshold = fields.take("threshold_percent");
    let threshold_percent = threshold.as_ref().and_then(Value::as_f64);
    if threshold.is_some() && threshold_percent.is_none() {
        let detail = "threshold_percent must be a number.";
        fields.reject("wrong_type", "threshold_percent", detail, "For example: 2.");
    }
    fields.finish(BaselineRequest {
        runs: numbers.unwrap_or_default(),
        threshold_percent,
    })
}

fn jobs(fields: &mut ObjectReader) -> Vec<Value> {
    const EXAMPLE: &str = "\"jobs\":[{\"rw\":\"randread\", ...}]";
    let jobs = fields.list("jobs", EXAMPLE);
    if jobs.is_none() && !fields.is_rejected("jobs") && !fields.is_rejected("job_text") {
        let remedy = format!("Add {EXAMPLE}.");
        fields.reject("missing", "jobs", "jobs is required.", remedy);
    }
    jobs.unwrap_or_default()
}

/// Rejects `jobs` in a request that contains `job_text`.
fn reject_jobs(fields: &mut ObjectReader) -> Vec<Value> {
    if fields.remove("jobs") {
        let detail = "jobs and job_text are mutually exclusive.";
        fields.reject("conflicting_fields", "jobs", detail, "Remove one of them.");
    }
    Vec::new()
}

fn variables(fields: &mut ObjectReader) -> Option<BTreeMap<String, String>> {
    let object = fields.object("variables", "{\"DEVICE\": \"/dev/nvme0n1\"}")?;
    let mut variables = BTreeMap::new();
    for (name, value) in object {
        match value {
            Value::String(value) => {
                variables.insert(name, value);
            }
            value => {
                let detail = format!("{value} is not a valid variable value.");
                fields.reject(
                    "wrong_type",
                    &format!("variables.{name}"),
                    detail,
                    "Use a string.",
                );
            }
        }
    }
    Some(variables)
}

fn sample_ms(fields: &mut ObjectReader) -> Option<u32> {
    let value = fields.take("sample_ms")?;
    let milliseconds = value.as_u64().and_then(|value| value.try_into().ok());
    if milliseconds.is_none() {
        fields.reject(
            "wrong_type",
            "sample_ms",
            format!("sample_ms must be a number of milliseconds, not {value}."),
            "Use an integer.",
        );
    }
    milliseconds
}

fn host(fields: &mut ObjectReader) -> Option<String> {
    let host = fields.text("host", MAX_NAME)?;
    if host != LOCAL_HOST {
        fields.reject(
            "unknown_host",
            "host",
            format!("Unknown host `{host}`."),
            format!("Use \"{LOCAL_HOST}\", or remove the field."),
        );
    }
    Some(host)
}

/// Trims tags and removes duplicates.
pub(super) fn tags(fields: &mut ObjectReader) -> Option<Vec<String>> {
    let items = fields.list("tags", "[\"one\", \"two\"]")?;
    let mut tags: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let tag = item.as_str().unwrap_or_default().trim();
        let is_plain = !tag.contains(NOT_IN_TAGS) && !tag.chars().any(is_deceptive);
        if (1..=MAX_TAG).contains(&tag.chars().count()) && is_plain {
            tags.push(tag.into());
        } else {
            fields.reject(
                "bad_value",
                &format!("tags[{index}]"),
                format!("{item} is not a valid tag."),
                format!(
                    "Use 1 to {MAX_TAG} characters without commas, quotes or invisible characters."
                ),
            );
        }
    }
    if items.len() > MAX_TAGS {
        let detail = format!("Too many tags ({}).", items.len());
        let remedy = format!("Use at most {MAX_TAGS}.");
        fields.reject("too_long", "tags", detail, remedy);
    }
    let mut seen = BTreeSet::new();
    tags.retain(|tag| seen.insert(tag.clone()));
    Some(tags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::experiments;
    use serde_json::json;

    /// `expected`: the fields to be reported as invalid.
    fn check(body: Value, expected: &[&str]) {
        let problems = run_request(body.clone()).err().unwrap_or_default();
        let fields: Vec<&str> = problems
            .iter()
            .map(|problem| problem.field.as_deref().unwrap_or_default())
            .collect();
        assert_eq!(fields, expected, "{body}");
        assert!(problems.iter().all(|problem| !problem.remedy.is_empty()));
    }

    #[test]
    fn all_invalid_fields_are_reported() {
        check(json!({"jobs": [{}]}), &[]);
        check(
            json!({"jobs": [{}], "host": "local", "name": "a", "tags": ["x"], "notes": "", "confirm": null, "sample_ms": 50}),
            &[],
        );
        check(json!([]), &[""]);
        check(json!({}), &["jobs"]);
        check(json!({"jobs": {}}), &["jobs"]);
        check(
            json!({"jobs": [], "sample_ms": "fast", "host": "mars", "name": 1, "tags": "x", "notes": [], "nmae": ""}),
            &["sample_ms", "host", "name", "tags", "notes", "nmae"],
        );
        check(
            json!({"jobs": [], "tags": ["", "ok", 3, "a,b"]}),
            &["tags[0]", "tags[2]", "tags[3]"],
        );
        check(
            json!({"tags": ["a,b"], "jobs": [{"rw": "bad", "direct": 7}], "x": 1}),
            &["tags[0]", "x", "jobs[0].rw", "jobs[0].direct"],
        );
        check(
            json!({"job_text": "fio --rw=read", "variables": {"A": "b"}}),
            &[],
        );
        check(
            json!({"job_text": "fio --rw=read", "jobs": [{}]}),
            &["jobs"],
        );
        check(
            json!({"job_text": 1, "variables": {"A": 1}}),
            &["job_text", "variables.A"],
        );
        check(json!({"jobs": [], "name": "x".repeat(201)}), &["name"]);
    }

    #[test]
    fn closest_field_is_suggested() {
        let problems = run_request(json!({"jobs": [], "sampel_ms": 1})).unwrap_err();
        assert_eq!(problems[0].remedy, "Did you mean `sample_ms`?");
    }

    #[test]
    fn experiments_are_valid_requests() {
        for experiment in experiments::all().unwrap() {
            let body = serde_json::to_value(experiment.study).unwrap();
            assert!(study_request(body).is_ok());
        }
    }

    #[test]
    fn tags_are_trimmed_and_deduplicated() {
        assert_eq!(
            run_patch(json!({"tags": ["b", " a ", "b"]})).unwrap().tags,
            Some(vec!["b".into(), "a".into()])
        );
    }
}
