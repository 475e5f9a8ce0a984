//! Parses studies. All problems of all steps are reported together, with paths such as
//! `steps[2].jobs[0].bs`.

use crate::{
    job::{
        OptionDoc,
        run_spec::{CONFIRM_EXAMPLE, parse_run},
    },
    limits::{MAX_PARAGRAPH, MAX_STEP_NAME, MAX_STEPS},
    problem::{Problem, object_reader::ObjectReader},
    study::{
        definition::SweepAxis,
        description::{Published, StudyDescription},
        load_curve,
        procedure::Procedure,
        repeats::{
            parse_idle_wait_seconds, parse_order, parse_order_seed, parse_repeats,
            parse_until_decided,
        },
        scaling::Scale,
        snia,
        spec::{StepSpec, StudySpec},
        sweep,
    },
    units,
};
use serde_json::{Map, Value, json};

/// Number of problems after which no more steps are checked.
const MAX_PROBLEMS: usize = 1000;
/// Option groups that are allowed in `state`.
const STATE_GROUPS: &[&str] = &["cache", "file"];
const STEPS_EXAMPLE: &str = "\"steps\":[{\"jobs\":[{\"rw\":\"randread\", ...}]}, ...]";
const PUBLISHED_REMEDY: &str = "Use {\"source\":\"...\",\"columns\":[\"IOPS\"],\"rows\":[{\"step\":1,\"cells\":[\"853333\"]}]}.";

/// Whether the document is a study instead of a run.
pub fn is_study(document: &Value) -> bool {
    document.get("steps").is_some()
}

/// # Errors
/// All invalid fields.
pub fn parse_study(document: Value) -> Result<StudySpec, Vec<Problem>> {
    let known = &[
        "name",
        "about",
        "missed_by_author",
        "published",
        "scale",
        "continue_on_failure",
        "repeats",
        "order",
        "order_seed",
        "until_decided",
        "idle_wait_seconds",
        "sweep",
        "snia",
        "load_curve",
        "confirm",
        "steps",
    ];
    let document_steps = document.get("steps").cloned();
    let mut reader = ObjectReader::new(document, "", known);
    let mut inner = Vec::new();
    let axes = sweep::parse_axes(&mut reader);
    let procedure = parse_procedure(&mut reader, document_steps.as_ref());
    let steps = parse_steps(&mut reader, &axes, procedure.as_ref(), &mut inner);
    let step_count = if inner.is_empty() {
        steps.len()
    } else {
        MAX_STEPS
    };
    let repeats = parse_repeats(&mut reader, steps.len());
    let order = parse_order(&mut reader);
    let until_decided = parse_until_decided(&mut reader, steps.len(), repeats, order);
    if procedure.is_some() && (repeats > 1 || !axes.is_empty()) {
        let detail =
            "snia and load_curve define their own runs; they support neither repeats nor sweep.";
        let remedy = "Remove repeats and sweep.";
        reader.reject("conflicting_options", "repeats", detail, remedy);
    }
    let study = StudySpec {
        description: StudyDescription {
            name: reader
                .name("name", MAX_STEP_NAME)
                .unwrap_or_else(|| "study".into()),
            about: reader.text("about", MAX_PARAGRAPH),
            missed_by_author: reader.text("missed_by_author", MAX_PARAGRAPH),
            published: parse_published(&mut reader, step_count),
        },
        continue_on_failure: reader.flag("continue_on_failure").unwrap_or(false),
        scale: parse_scale(&mut reader, &mut inner),
        repeats,
        order,
        until_decided,
        idle_wait_seconds: parse_idle_wait_seconds(&mut reader, repeats, order),
        order_seed: parse_order_seed(&mut reader),
        procedure,
        confirm: reader.texts("confirm", CONFIRM_EXAMPLE).unwrap_or_default(),
        steps,
    };
    with_nested_problems(reader.finish(study), inner)
}

/// Appends problems from nested objects.
fn with_nested_problems<T>(
    outer: Result<T, Vec<Problem>>,
    inner: Vec<Problem>,
) -> Result<T, Vec<Problem>> {
    match outer {
        Ok(value) if inner.is_empty() => Ok(value),
        Ok(_) => Err(inner),
        Err(outer) => Err([outer, inner].concat()),
    }
}

fn parse_steps(
    reader: &mut ObjectReader,
    axes: &[SweepAxis],
    procedure: Option<&Procedure>,
    problems: &mut Vec<Problem>,
) -> Vec<StepSpec> {
    let Some(steps) = reader.list("steps", STEPS_EXAMPLE) else {
        if !reader.has_problems() {
            let remedy = format!("Use {STEPS_EXAMPLE}.");
            reader.reject("missing", "steps", "The study has no steps.", remedy);
        }
        return Vec::new();
    };
    match procedure {
        Some(Procedure::Snia(test)) => {
            let base = snia::parse::parse_base_job(reader, test, &steps);
            let documents = base.map(|base| snia::steps::documents(test, &base));
            return parse_generated_steps(documents.unwrap_or_default(), problems);
        }
        Some(Procedure::LoadCurve(curve)) => {
            return parse_generated_steps(vec![curve.first_step()], problems);
        }
        None => {}
    }
    let cells = sweep::cell_count(axes);
    if cells > 1 && steps.len().saturating_mul(cells) > MAX_STEPS {
        let detail = format!(
            "The sweep would result in {} steps: {cells} value combinations for each of {} steps.",
            steps.len().saturating_mul(cells),
            steps.len()
        );
        let remedy = format!("Use at most {MAX_STEPS} runs in total.");
        reader.reject("step_count", "sweep", detail, remedy);
        return Vec::new();
    }
    if steps.is_empty() || steps.len() > MAX_STEPS {
        let detail = format!(
            "The study has {} steps; it must have 1 to {MAX_STEPS}.",
            steps.len()
        );
        let remedy = format!("Use {STEPS_EXAMPLE}; split larger sets into multiple studies.");
        reader.reject("step_count", "steps", detail, remedy);
        return Vec::new();
    }
    let cells = sweep::cells(axes);
    let mut specs = Vec::new();
    for (index, step) in steps.into_iter().enumerate() {
        for cell in &cells {
            if problems.len() >= MAX_PROBLEMS {
                return specs;
            }
            match parse_step(sweep::with_values(step.clone(), cell), index) {
                Ok(spec) => specs.push(sweep::named(spec, cell)),
                Err(step_problems) => {
                    let step_problems = step_problems.into_iter();
                    let located = step_problems.map(|problem| sweep::located(problem, cell));
                    // Most problems occur in all combinations of a sweep; each is reported once.
                    for problem in located {
                        if !problems.contains(&problem) {
                            problems.push(problem);
                        }
                    }
                }
            }
        }
    }
    specs
}

fn parse_procedure(reader: &mut ObjectReader, steps: Option<&Value>) -> Option<Procedure> {
    let snia = snia::parse::parse_test(reader).map(Procedure::Snia);
    let curve = load_curve::parse::parse_curve(reader, steps).map(Procedure::LoadCurve);
    if snia.is_some() && curve.is_some() {
        let detail = "snia and load_curve are mutually exclusive.";
        reader.reject(
            "conflicting_options",
            "load_curve",
            detail,
            "Remove one of them.",
        );
    }
    snia.or(curve)
}

/// Parses the steps that a procedure generates. They all have the same problems as the base job.
fn parse_generated_steps(documents: Vec<Value>, problems: &mut Vec<Problem>) -> Vec<StepSpec> {
    let mut specs = Vec::new();
    for document in documents {
        match parse_step(document, 0) {
            Ok(spec) => specs.push(spec),
            Err(found) => {
                problems.extend(found);
                break;
            }
        }
    }
    specs
}

fn parse_step(step: Value, index: usize) -> Result<StepSpec, Vec<Problem>> {
    let path = format!("steps[{index}].");
    let known = &["name", "note", "state", "jobs", "sample_ms"];
    let mut reader = ObjectReader::new(step, path.as_str(), known);
    let name = reader.name("name", MAX_STEP_NAME);
    let note = reader.text("note", MAX_PARAGRAPH);
    let state = parse_state(&mut reader);
    let jobs = reader.take("jobs").unwrap_or_else(|| json!([]));
    let jobs: Option<Vec<Value>> = jobs
        .as_array()
        .map(|jobs| jobs.iter().map(|job| with_state(job, &state)).collect());
    let mut run = json!({"jobs": jobs});
    if let Some(sample_ms) = reader.take("sample_ms") {
        run["sample_ms"] = sample_ms;
    }
    let outer = reader.finish(());
    let run = match parse_run(&run) {
        Ok(run) => outer.map(|()| run)?,
        Err(problems) => {
            let inner = problems
                .into_iter()
                .map(|problem| problem.with_path_prefix(&path));
            return Err(outer.err().into_iter().flatten().chain(inner).collect());
        }
    };
    let name = name
        .or_else(|| run.jobs[0].name.clone())
        .unwrap_or_else(|| format!("step {}", index + 1));
    Ok(StepSpec {
        definition: index,
        sweep: Vec::new(),
        name,
        note,
        jobs: jobs.unwrap_or_default(),
        run,
    })
}

/// File and cache options for all jobs in a step. Empty if they are invalid, so that their problems
/// are not repeated for each job.
fn parse_state(reader: &mut ObjectReader) -> Map<String, Value> {
    let state = reader
        .object("state", "{\"invalidate\": 1}")
        .unwrap_or_default();
    let is_state = |name: &str| {
        OptionDoc::find(name).is_none_or(|option| STATE_GROUPS.contains(&option.group))
    };
    for name in state.keys().filter(|name| !is_state(name)) {
        let detail = format!("{name} is not a file or cache option.");
        let remedy = "Move it to the step's jobs.";
        reader.reject(
            "not_a_state_option",
            &format!("state.{name}"),
            detail,
            remedy,
        );
    }
    let Err(problems) = parse_run(&json!({"jobs": [state]})) else {
        return state;
    };
    for problem in problems {
        let field = problem.field.unwrap_or_default();
        let field = field.replace("jobs[0].", "state.");
        reader.reject(&problem.code, &field, problem.detail, problem.remedy);
    }
    Map::new()
}

/// Adds the state to a job. The job's own options take precedence.
fn with_state(job: &Value, state: &Map<String, Value>) -> Value {
    let Some(options) = job.as_object() else {
        return job.clone();
    };
    let mut options = options.clone();
    for (name, value) in state {
        options
            .entry(name.as_str())
            .or_insert_with(|| value.clone());
    }
    Value::Object(options)
}

fn parse_published(reader: &mut ObjectReader, steps: usize) -> Option<Published> {
    let published: Published = match serde_json::from_value(reader.take("published")?) {
        Ok(published) => published,
        Err(error) => {
            let detail = format!("published is not a table: {error}.");
            reader.reject("bad_value", "published", detail, PUBLISHED_REMEDY);
            return None;
        }
    };
    let columns = published.columns.len();
    for (index, row) in published.rows.iter().enumerate() {
        let step_exists = |step| (1..=steps as u32).contains(&step);
        if row.cells.len() != columns || !row.step.is_none_or(step_exists) {
            let field = format!("published.rows[{index}]");
            let detail = format!(
                "A row must have {columns} cells, one per column. Its step, if any, must be \
                 from 1 to {steps}."
            );
            reader.reject("bad_value", &field, detail, PUBLISHED_REMEDY);
        }
    }
    Some(published)
}

fn parse_scale(reader: &mut ObjectReader, problems: &mut Vec<Problem>) -> Scale {
    let Some(value) = reader.take("scale") else {
        return Scale::default();
    };
    let known = &["max_size", "memory_percent", "free_percent", "note"];
    let mut reader = ObjectReader::new(value, "scale.", known);
    let scale = Scale {
        max_size: parse_size(&mut reader, "max_size"),
        memory_percent: parse_percent(&mut reader, "memory_percent"),
        free_percent: parse_percent(&mut reader, "free_percent"),
        note: reader.text("note", MAX_PARAGRAPH),
    };
    reader.finish(scale).unwrap_or_else(|scale_problems| {
        problems.extend(scale_problems);
        Scale::default()
    })
}

fn parse_size(reader: &mut ObjectReader, name: &str) -> Option<u64> {
    let value = reader.take(name)?;
    let size = match &value {
        Value::String(text) => units::bytes(text),
        other => units::bytes(&other.to_string()),
    };
    let size = size.ok().filter(|bytes| *bytes > 0);
    if size.is_none() {
        let detail = format!("{value} is not a size.");
        reader.reject("bad_value", name, detail, "Use a size such as \"1g\".");
    }
    size
}

fn parse_percent(reader: &mut ObjectReader, name: &str) -> Option<u8> {
    let value = reader.take(name)?;
    let percent = value
        .as_u64()
        .and_then(|percent| u8::try_from(percent).ok())
        .filter(|percent| (1..=100).contains(percent));
    if percent.is_none() {
        let detail = format!("{name} must be an integer from 1 to 100, not {value}.");
        reader.reject("bad_value", name, detail, "Use a percentage, such as 50.");
    }
    percent
}

#[cfg(test)]
mod tests {
    use super::{MAX_PROBLEMS, parse_study};
    use serde_json::json;

    #[test]
    fn limits_number_of_problems() {
        let jobs = json!({"jobs": vec![1; 64]});
        let problems = parse_study(json!({"steps": vec![jobs; 256]})).unwrap_err();
        assert_eq!(problems.len(), MAX_PROBLEMS.next_multiple_of(64));
    }
}
