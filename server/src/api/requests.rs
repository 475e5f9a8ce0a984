//! Reads what is asked for, field by field: every bad field is told at once, and an unknown one meets the nearest known
//! one. What stands inside the jobs is the runner's to judge (`plan`). Pure.

use crate::studies::StudyRequest;
use leadline_protocol::problem::Problem;
use leadline_protocol::problem::fields::Fields;
use leadline_protocol::run::{RerunRequest, RunPatch, RunRequest};
use leadline_protocol::study::parse::parse_study;
use serde_json::{Map, Value};

/// The longest name: it stands in one line of a list.
const MAX_NAME: usize = 200;
/// The longest notes: lists carry them.
const MAX_NOTES: usize = 8 * 1024;
/// The most tags of a run.
const MAX_TAGS: usize = 32;
/// The longest tag.
const MAX_TAG: usize = 64;
/// The one host there is.
pub const LOCAL: &str = "local";

/// Takes the tags out.
pub fn tags(fields: &mut Fields) -> Option<Vec<String>> {
    let mut tags: Vec<String> = Vec::new();
    for (index, item) in fields
        .list("tags", "[\"one\", \"two\"]")?
        .iter()
        .enumerate()
    {
        match item.as_str().map(str::trim) {
            Some(tag) if !tag.is_empty() && tag.len() <= MAX_TAG && !tag.contains([',', '"']) => {
                tags.push(tag.into())
            }
            _ => {
                let remedy =
                    format!("Write a text of 1 to {MAX_TAG} bytes without commas and quotes.");
                fields.refuse(
                    "bad_value",
                    &format!("tags[{index}]"),
                    format!("{item} is not a tag."),
                    remedy,
                );
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    tags.retain(|tag| seen.insert(tag.clone()));
    if tags.len() > MAX_TAGS {
        fields.refuse(
            "too_long",
            "tags",
            format!("{} tags are too many.", tags.len()),
            format!("Use up to {MAX_TAGS}."),
        );
    }
    Some(tags)
}

/// Takes the host out.
pub fn host(fields: &mut Fields) -> Option<String> {
    let host = fields.text("host", MAX_NAME)?;
    if host != LOCAL {
        fields.refuse(
            "unknown_host",
            "host",
            format!("There is no host `{host}`."),
            "Leave it out, or write \"local\".",
        );
    }
    Some(host)
}

fn sample_ms(fields: &mut Fields) -> Option<u32> {
    let value = fields.take("sample_ms")?;
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    if number.is_none() {
        let sentence = format!("{value} is not a sampling grid.");
        fields.refuse(
            "wrong_type",
            "sample_ms",
            sentence,
            "Write a whole number of milliseconds.",
        );
    }
    number
}

fn jobs(fields: &mut Fields) -> Vec<Value> {
    const EXAMPLE: &str = "\"jobs\":[{\"rw\":\"randread\", ...}]";
    match fields.list("jobs", EXAMPLE) {
        Some(jobs) => return jobs,
        None if !fields.is_refused() => fields.refuse(
            "missing",
            "jobs",
            "There are no jobs.",
            format!("Write {EXAMPLE}."),
        ),
        None => {}
    }
    Vec::new()
}

/// Reads a run: `{"jobs": [...], ...}`.
///
/// # Errors
/// Every bad field, less those inside the jobs.
pub fn run_request(body: Value) -> Result<RunRequest, Vec<Problem>> {
    let mut fields = Fields::of(
        body,
        "",
        &[
            "jobs",
            "sample_ms",
            "host",
            "name",
            "tags",
            "notes",
            "confirm",
        ],
    );
    if fields.remove("job_text") {
        fields.refuse(
            "not_built",
            "job_text",
            "Job files and commands are not read yet.",
            "Write the same options as `jobs`.",
        );
    }
    let request = RunRequest {
        jobs: jobs(&mut fields),
        sample_ms: sample_ms(&mut fields),
        host: host(&mut fields),
        name: fields.text("name", MAX_NAME),
        tags: tags(&mut fields),
        notes: fields.text("notes", MAX_NOTES),
        confirm: fields.text("confirm", MAX_NAME),
    };
    fields.end(request)
}

/// Reads a study: what stands in it is the runner's to read, what stands around it is read here. The document without
/// that, for the runner.
///
/// # Errors
/// Every bad field, less those that only the host can tell.
pub fn study_request(body: Value) -> Result<StudyRequest, Vec<Problem>> {
    let (mut around, mut document) = (Map::new(), body);
    for name in ["host", "tags", "confirm"] {
        around.extend(
            document
                .as_object_mut()
                .and_then(|fields| fields.shift_remove_entry(name)),
        );
    }
    let mut fields = Fields::of(Value::Object(around), "", &[]);
    let (host, tags, confirm) = (
        host(&mut fields),
        tags(&mut fields),
        fields.text("confirm", MAX_NAME),
    );
    match (parse_study(document.clone()), fields.end(())) {
        (Ok(_), Ok(())) => Ok(StudyRequest {
            document,
            host,
            tags,
            confirm,
        }),
        (study, around) => Err(study
            .err()
            .into_iter()
            .chain(around.err())
            .flatten()
            .collect()),
    }
}

/// Reads what a rerun changes.
///
/// # Errors
/// Every bad field.
pub fn rerun_request(body: Value) -> Result<RerunRequest, Vec<Problem>> {
    let mut fields = Fields::of(body, "", &["name", "tags", "patch", "confirm"]);
    let request = RerunRequest {
        patch: fields.object("patch", "{\"direct\": 1}"),
        name: fields.text("name", MAX_NAME),
        tags: tags(&mut fields),
        confirm: fields.text("confirm", MAX_NAME),
    };
    fields.end(request)
}

/// Reads what is changed of a run.
///
/// # Errors
/// Every bad field.
pub fn run_patch(body: Value) -> Result<RunPatch, Vec<Problem>> {
    let mut fields = Fields::of(body, "", &["name", "tags", "notes"]);
    let patch = RunPatch {
        name: fields.text("name", MAX_NAME),
        tags: tags(&mut fields),
        notes: fields.text("notes", MAX_NOTES),
    };
    fields.end(patch)
}

/// The jobs with options set in every one of them; null removes an option. The newest comes last, because of two names
/// for one thing (`rwmixread`, `rwmixwrite`) the later one counts.
pub fn patched(jobs: &[Value], patch: &Map<String, Value>) -> Vec<Value> {
    let patched = |job: &Value| {
        let mut options = job.as_object().cloned().unwrap_or_default();
        for (name, value) in patch {
            options.shift_remove(name);
            if !value.is_null() {
                options.insert(name.clone(), value.clone());
            }
        }
        Value::Object(options)
    };
    jobs.iter().map(patched).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A body and the fields that are refused.
    fn check(body: Value, expect: &[&str]) {
        let refused = run_request(body.clone()).err().unwrap_or_default();
        let fields: Vec<&str> = refused
            .iter()
            .filter_map(|problem| problem.field.as_deref())
            .collect();
        assert_eq!(fields, expect, "{body}");
        assert!(refused.iter().all(|problem| !problem.remedy.is_empty()));
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
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
        check(json!({"job_text": "fio --rw=read"}), &["job_text"]);
        check(json!({"jobs": [], "name": "x".repeat(201)}), &["name"]);
    }

    #[test]
    fn the_nearest_field_is_offered() {
        let refused = run_request(json!({"jobs": [], "sampel_ms": 1})).unwrap_err();
        assert_eq!(refused[0].remedy, "Did you mean `sample_ms`?");
    }

    #[test]
    fn a_patch_sets_replaces_and_removes() {
        let jobs = [json!({"rw": "read", "direct": 0, "bs": "4k"}), json!({})];
        let patch = json!({"direct": 1, "bs": null})
            .as_object()
            .unwrap()
            .clone();
        assert_eq!(
            patched(&jobs, &patch),
            [json!({"rw": "read", "direct": 1}), json!({"direct": 1})]
        );
    }

    #[test]
    fn tags_are_kept_once() {
        assert_eq!(
            run_patch(json!({"tags": ["b", " a ", "b"]})).unwrap().tags,
            Some(vec!["b".into(), "a".into()])
        );
    }
}
