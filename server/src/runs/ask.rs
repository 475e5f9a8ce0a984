//! Reads what is asked for, field by field: every bad field is told at once, and an unknown one meets the nearest known
//! one. What stands inside the jobs is the runner's to judge (`plan`). Pure.

use leadline_runner::refusal::Refusal;
use serde_json::{Map, Value};

use super::words::{RerunRequest, RunPatch, RunRequest};

/// The longest name: it stands in one line of a list.
const MAX_NAME: usize = 200;
/// The longest notes: lists carry them.
const MAX_NOTES: usize = 8 * 1024;
/// The most tags of a run.
const MAX_TAGS: usize = 32;
/// The longest tag.
const MAX_TAG: usize = 64;
/// How alike a name must be to be offered as the one that was meant (Jaro-Winkler, 0 to 1).
const ALIKE: f64 = 0.75;
/// The one host there is.
pub const LOCAL: &str = "local";

/// A body that is being read: fields are taken out one by one, what is left at the end is unknown.
struct Fields {
    object: Map<String, Value>,
    known: &'static [&'static str],
    refusals: Vec<Refusal>,
}

impl Fields {
    fn of(body: Value, known: &'static [&'static str]) -> Self {
        match body {
            Value::Object(object) => Self { object, known, refusals: Vec::new() },
            other => {
                let refusal =
                    Refusal::invalid("not_an_object", "", format!("The body is {}, not an object.", kind(&other)), "Write {...}.");
                Self { object: Map::new(), known, refusals: vec![refusal] }
            }
        }
    }

    fn refuse(&mut self, code: &str, field: &str, sentence: String, remedy: impl Into<String>) {
        self.refusals.push(Refusal::invalid(code, field, sentence, remedy));
    }

    /// Takes a field out; null is as good as nothing.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.object.shift_remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str, longest: usize) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if text.len() <= longest => Some(text),
            Value::String(text) => {
                self.refuse("too_long", name, format!("{name} has {} bytes.", text.len()), format!("Use up to {longest}."));
                None
            }
            other => {
                self.refuse("wrong_type", name, format!("{name} is {}, not a text.", kind(&other)), "Write it in double quotes.");
                None
            }
        }
    }

    fn tags(&mut self) -> Option<Vec<String>> {
        let value = self.take("tags")?;
        let mut tags: Vec<String> = Vec::new();
        let Some(items) = value.as_array() else {
            self.refuse("wrong_type", "tags", format!("tags is {}, not a list.", kind(&value)), "Write [\"one\", \"two\"].");
            return None;
        };
        for (index, item) in items.iter().enumerate() {
            match item.as_str().map(str::trim) {
                Some(tag) if !tag.is_empty() && tag.len() <= MAX_TAG && !tag.contains([',', '"']) => tags.push(tag.into()),
                _ => {
                    let remedy = format!("Write a text of 1 to {MAX_TAG} bytes without commas and quotes.");
                    self.refuse("bad_value", &format!("tags[{index}]"), format!("{item} is not a tag."), remedy);
                }
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        tags.retain(|tag| seen.insert(tag.clone()));
        if tags.len() > MAX_TAGS {
            self.refuse("too_long", "tags", format!("{} tags are too many.", tags.len()), format!("Use up to {MAX_TAGS}."));
        }
        Some(tags)
    }

    fn host(&mut self) -> Option<String> {
        let host = self.text("host", MAX_NAME)?;
        if host != LOCAL {
            self.refuse("unknown_host", "host", format!("There is no host `{host}`."), "Leave it out, or write \"local\".");
        }
        Some(host)
    }

    fn sample_ms(&mut self) -> Option<u32> {
        let value = self.take("sample_ms")?;
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        if number.is_none() {
            self.refuse(
                "wrong_type",
                "sample_ms",
                format!("{value} is not a sampling grid."),
                "Write a whole number of milliseconds.",
            );
        }
        number
    }

    fn end<T>(mut self, value: T) -> Result<T, Vec<Refusal>> {
        for name in std::mem::take(&mut self.object).keys() {
            self.refuse("unknown_field", name, format!("There is no field `{name}`."), nearest(name, self.known));
        }
        if self.refusals.is_empty() { Ok(value) } else { Err(self.refusals) }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn nearest(name: &str, known: &[&str]) -> String {
    let likeness = |known: &str| strsim::jaro_winkler(name, known);
    match known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|known| likeness(known) >= ALIKE) {
        Some(known) => format!("Did you mean `{known}`?"),
        None => format!("Use {}.", known.join(", ")),
    }
}

/// Reads a run: `{"jobs": [...], ...}`.
///
/// # Errors
/// Every bad field, less those inside the jobs.
pub fn run_request(body: Value) -> Result<RunRequest, Vec<Refusal>> {
    let mut fields = Fields::of(body, &["jobs", "sample_ms", "host", "name", "tags", "notes", "confirm"]);
    if fields.object.shift_remove("job_text").is_some() {
        fields.refuse(
            "not_built",
            "job_text",
            "Job files and commands are not read yet.".into(),
            "Write the same options as `jobs`.",
        );
    }
    let jobs = match fields.take("jobs") {
        Some(Value::Array(jobs)) => jobs,
        Some(other) => {
            fields.refuse(
                "wrong_type",
                "jobs",
                format!("jobs is {}, not a list.", kind(&other)),
                "Write \"jobs\":[{\"rw\":\"randread\", ...}].",
            );
            Vec::new()
        }
        None => {
            if fields.refusals.is_empty() {
                fields.refuse("missing", "jobs", "There are no jobs.".into(), "Write \"jobs\":[{\"rw\":\"randread\", ...}].");
            }
            Vec::new()
        }
    };
    let request = RunRequest {
        jobs,
        sample_ms: fields.sample_ms(),
        host: fields.host(),
        name: fields.text("name", MAX_NAME),
        tags: fields.tags(),
        notes: fields.text("notes", MAX_NOTES),
        confirm: fields.text("confirm", MAX_NAME),
    };
    fields.end(request)
}

/// Reads what a rerun changes.
///
/// # Errors
/// Every bad field.
pub fn rerun_request(body: Value) -> Result<RerunRequest, Vec<Refusal>> {
    let mut fields = Fields::of(body, &["name", "tags", "patch", "confirm"]);
    let patch = match fields.take("patch") {
        None => None,
        Some(Value::Object(patch)) => Some(patch),
        Some(other) => {
            fields.refuse("wrong_type", "patch", format!("patch is {}, not an object.", kind(&other)), "Write {\"direct\": 1}.");
            None
        }
    };
    let request =
        RerunRequest { name: fields.text("name", MAX_NAME), tags: fields.tags(), patch, confirm: fields.text("confirm", MAX_NAME) };
    fields.end(request)
}

/// Reads what is changed of a run.
///
/// # Errors
/// Every bad field.
pub fn run_patch(body: Value) -> Result<RunPatch, Vec<Refusal>> {
    let mut fields = Fields::of(body, &["name", "tags", "notes"]);
    let patch = RunPatch { name: fields.text("name", MAX_NAME), tags: fields.tags(), notes: fields.text("notes", MAX_NOTES) };
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
        let fields: Vec<&str> = refused.iter().filter_map(|refusal| refusal.field.as_deref()).collect();
        assert_eq!(fields, expect, "{body}");
        assert!(refused.iter().all(|refusal| !refusal.remedy.is_empty()));
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
        check(json!({"jobs": [], "tags": ["", "ok", 3, "a,b"]}), &["tags[0]", "tags[2]", "tags[3]"]);
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
        let patch = json!({"direct": 1, "bs": null}).as_object().unwrap().clone();
        assert_eq!(patched(&jobs, &patch), [json!({"rw": "read", "direct": 1}), json!({"direct": 1})]);
    }

    #[test]
    fn tags_are_kept_once() {
        assert_eq!(run_patch(json!({"tags": ["b", " a ", "b"]})).unwrap().tags, Some(vec!["b".into(), "a".into()]));
    }
}
