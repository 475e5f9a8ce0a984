//! JSON in, study out: every bad field of every step is told at once, with its place, such as `steps[2].jobs[0].bs`.

use crate::job::OPTIONS;
use crate::job::parse::parse_run;
use crate::problem::Problem;
use crate::problem::fields::Fields;
use crate::study::scaling::Scale;
use crate::study::{Published, StepSpec, StudyDescription, StudySpec};
use crate::units;
use serde_json::{Map, Value, json};

/// The most steps: a run each, which the server's queue takes in at once.
pub const MAX_STEPS: usize = 256;
/// The longest name in bytes: it stands in one line of a list, in front of those of its steps.
const MAX_NAME: usize = 100;
/// The longest paragraph in bytes.
const MAX_TEXT: usize = 8 * 1024;
/// Groups of options that say in which state file and cache are before a run.
const STATE_GROUPS: &[&str] = &["cache", "file"];

/// Whether a document is a study and no run: it has steps.
pub fn is_study(document: &Value) -> bool {
    document.get("steps").is_some()
}

/// Reads a study: `{"name": ..., "steps": [{"jobs": [...]}, ...]}`.
///
/// # Errors
/// Every bad field, each with its place.
pub fn parse_study(document: Value) -> Result<StudySpec, Vec<Problem>> {
    let known = &[
        "name",
        "about",
        "missed_by_author",
        "published",
        "scale",
        "continue_on_failure",
        "steps",
    ];
    let mut fields = Fields::of(document, "", known);
    let mut inner = Vec::new();
    let steps = steps(&mut fields, &mut inner);
    let ask = StudySpec {
        words: StudyDescription {
            name: fields
                .text("name", MAX_NAME)
                .unwrap_or_else(|| "study".into()),
            about: fields.text("about", MAX_TEXT),
            missed_by_author: fields.text("missed_by_author", MAX_TEXT),
            published: published(
                &mut fields,
                if inner.is_empty() {
                    steps.len()
                } else {
                    MAX_STEPS
                },
            ),
        },
        continue_on_failure: fields.flag("continue_on_failure").unwrap_or(false),
        scale: scale(&mut fields, &mut inner),
        steps,
    };
    match fields.end(ask) {
        Ok(ask) if inner.is_empty() => Ok(ask),
        Ok(_) => Err(inner),
        Err(outer) => Err(outer.into_iter().chain(inner).collect()),
    }
}

fn steps(fields: &mut Fields, problems: &mut Vec<Problem>) -> Vec<StepSpec> {
    const EXAMPLE: &str = "\"steps\":[{\"jobs\":[{\"rw\":\"randread\", ...}]}, ...]";
    let Some(steps) = fields.list("steps", EXAMPLE) else {
        if !fields.is_refused() {
            fields.refuse(
                "missing",
                "steps",
                "There are no steps.",
                format!("Write {EXAMPLE}."),
            );
        }
        return Vec::new();
    };
    if steps.is_empty() || steps.len() > MAX_STEPS {
        let sentence = format!(
            "A study has 1 to {MAX_STEPS} steps; this has {}.",
            steps.len()
        );
        fields.refuse(
            "step_count",
            "steps",
            sentence,
            format!("Write {EXAMPLE}; split larger sets into several studies."),
        );
        return Vec::new();
    }
    let read = |(index, step)| {
        parse_step(step, index)
            .map_err(|refused| problems.extend(refused))
            .ok()
    };
    steps.into_iter().enumerate().filter_map(read).collect()
}

fn parse_step(step: Value, index: usize) -> Result<StepSpec, Vec<Problem>> {
    let path = format!("steps[{index}].");
    let mut fields = Fields::of(
        step,
        path.as_str(),
        &["name", "note", "state", "jobs", "sample_ms"],
    );
    let (name, note) = (fields.text("name", MAX_NAME), fields.text("note", MAX_TEXT));
    let state = fields
        .object("state", "{\"invalidate\": 1}")
        .unwrap_or_default();
    // A state that cannot be read is told once, and not again for every job.
    let state = if check_state(&state, &mut fields) {
        state
    } else {
        Map::new()
    };
    let jobs = fields.take("jobs").unwrap_or_else(|| json!([]));
    let jobs = jobs.as_array().map(|jobs| {
        jobs.iter()
            .map(|job| in_state(job, &state))
            .collect::<Vec<_>>()
    });
    let mut run = json!({"jobs": jobs});
    if let Some(sample_ms) = fields.take("sample_ms") {
        run["sample_ms"] = sample_ms;
    }
    let frame = fields.end(());
    let ask = parse_run(&run);
    match (frame, ask) {
        (Ok(()), Ok(ask)) => {
            let name = name
                .or_else(|| ask.jobs[0].name.clone())
                .unwrap_or_else(|| format!("step {}", index + 1));
            Ok(StepSpec {
                name,
                note,
                jobs: jobs.unwrap_or_default(),
                ask,
            })
        }
        (frame, ask) => {
            let inside = ask
                .err()
                .unwrap_or_default()
                .into_iter()
                .map(|problem| problem.inside(&path));
            Err(frame
                .err()
                .unwrap_or_default()
                .into_iter()
                .chain(inside)
                .collect())
        }
    }
}

/// The state wanted before a step is options of its jobs; here they are told from the others, and read. Whether all is well.
fn check_state(state: &Map<String, Value>, fields: &mut Fields) -> bool {
    let is_state = |name: &str| {
        let of_name =
            |option: &&crate::job::OptionDoc| option.name == name || option.aliases.contains(&name);
        OPTIONS
            .iter()
            .find(of_name)
            .is_none_or(|option| STATE_GROUPS.contains(&option.group))
    };
    for name in state.keys().filter(|name| !is_state(name)) {
        let sentence = format!("{name} is no state of a file or its cache.");
        fields.refuse(
            "not_a_state",
            &format!("state.{name}"),
            sentence,
            "Write it in the jobs of the step.",
        );
    }
    let unread = parse_run(&json!({"jobs": [state]}))
        .err()
        .unwrap_or_default();
    let is_well = unread.is_empty();
    for problem in unread {
        let place = problem
            .field
            .as_deref()
            .unwrap_or_default()
            .replace("jobs[0].", "state.");
        fields.refuse(&problem.code, &place, problem.detail, problem.remedy);
    }
    is_well
}

/// A job with the state wanted before it; what it says itself counts more.
fn in_state(job: &Value, state: &Map<String, Value>) -> Value {
    let mut job = job.clone();
    if let Some(options) = job.as_object_mut() {
        for (name, value) in state {
            options
                .entry(name.as_str())
                .or_insert_with(|| value.clone());
        }
    }
    job
}

fn published(fields: &mut Fields, steps: usize) -> Option<Published> {
    let value = fields.take("published")?;
    let example = "Write {\"source\":\"...\",\"columns\":[\"IOPS\"],\"rows\":[{\"step\":1,\"cells\":[\"853333\"]}]}.";
    let published: Published = match serde_json::from_value(value) {
        Ok(published) => published,
        Err(error) => {
            fields.refuse(
                "bad_value",
                "published",
                format!("published is no table: {error}."),
                example,
            );
            return None;
        }
    };
    for (index, row) in published.rows.iter().enumerate() {
        let fits = row.cells.len() == published.columns.len()
            && row
                .step
                .is_none_or(|step| (1..=steps as u32).contains(&step));
        if !fits {
            let sentence = format!(
                "A row has {} cells, one a column, and a step from 1 to {steps}.",
                published.columns.len()
            );
            fields.refuse(
                "bad_value",
                &format!("published.rows[{index}]"),
                sentence,
                example,
            );
        }
    }
    Some(published)
}

fn scale(fields: &mut Fields, problems: &mut Vec<Problem>) -> Scale {
    let Some(value) = fields.take("scale") else {
        return Scale::default();
    };
    let mut scale = Fields::of(
        value,
        "scale.",
        &["max_size", "memory_percent", "free_percent", "note"],
    );
    let read = Scale {
        max_size: size(&mut scale, "max_size"),
        memory_percent: percent(&mut scale, "memory_percent"),
        free_percent: percent(&mut scale, "free_percent"),
        note: scale.text("note", MAX_TEXT),
    };
    scale.end(read).unwrap_or_else(|refused| {
        problems.extend(refused);
        Scale::default()
    })
}

fn size(fields: &mut Fields, name: &str) -> Option<u64> {
    let value = fields.take(name)?;
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let size = units::bytes(&text).ok().filter(|bytes| *bytes > 0);
    if size.is_none() {
        fields.refuse(
            "bad_value",
            name,
            format!("{value} is not a size."),
            "Write a size such as \"1g\".",
        );
    }
    size
}

fn percent(fields: &mut Fields, name: &str) -> Option<u8> {
    let value = fields.take(name)?;
    let percent = value
        .as_u64()
        .and_then(|percent| u8::try_from(percent).ok())
        .filter(|percent| (1..=100).contains(percent));
    if percent.is_none() {
        fields.refuse(
            "bad_value",
            name,
            format!("{value} is not a share."),
            "Write a whole number from 1 to 100.",
        );
    }
    percent
}
