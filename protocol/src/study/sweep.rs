//! Sweeps: each step runs with every combination of the values of the swept options.

use crate::{
    job::{
        Job, OptionDoc,
        parse::{option_text, unknown_option_remedy},
    },
    limits::MAX_STEPS,
    problem::{
        Problem,
        object_reader::{MAX_LISTED, ObjectReader},
    },
    study::{
        definition::{SweepAxis, SweepValue},
        spec::StepSpec,
    },
};
use serde_json::Value;
use std::collections::BTreeSet;

/// An option name and a value.
pub(super) type Setting<'a> = (&'a str, &'a Value);

const REMEDY: &str = "Use [{\"option\":\"iodepth\",\"values\":[1,2,4]}, ...].";

/// Returns the axes of a valid sweep; empty if there is no sweep.
pub(super) fn parse_axes(reader: &mut ObjectReader) -> Vec<SweepAxis> {
    let Some(value) = reader.take("sweep") else {
        return Vec::new();
    };
    let axes: Vec<SweepAxis> = match serde_json::from_value(value) {
        Ok(axes) => axes,
        Err(error) => {
            let detail = format!("sweep is not a list of options with values: {error}.");
            reader.reject("bad_value", "sweep", detail, REMEDY);
            return Vec::new();
        }
    };
    let mut seen = BTreeSet::new();
    let problems = axes.iter().enumerate().filter_map(|(index, axis)| {
        let Some(option) = OptionDoc::find(&axis.option) else {
            let detail = format!("{} is not an option.", axis.option);
            return Some((index, detail, unknown_option_remedy(&axis.option)));
        };
        let detail = if !seen.insert(option.name) {
            format!("{} is swept twice.", option.name)
        } else if axis.values.is_empty() {
            format!("{} has no values.", axis.option)
        } else {
            match repeated_value(option.name, &axis.values) {
                Some(value) => format!("{} has the value {value} twice.", axis.option),
                None => return None,
            }
        };
        Some((index, detail, REMEDY.to_owned()))
    });
    let problems: Vec<(usize, String, String)> = problems.take(MAX_LISTED).collect();
    for (index, detail, remedy) in &problems {
        reader.reject("bad_value", &format!("sweep[{index}]"), detail, remedy);
    }
    if problems.is_empty() {
        axes
    } else {
        Vec::new()
    }
}

/// Returns a value that occurs twice. `4k` and `4096` are equal. Only the first values are checked,
/// because longer lists are rejected anyway.
fn repeated_value<'a>(option: &str, values: &'a [Value]) -> Option<&'a Value> {
    let mut seen = BTreeSet::new();
    let mut values = values.iter().take(MAX_STEPS + 1);
    values.find(|value| !seen.insert(normalized(option, value)))
}

/// Returns text that is equal for equivalent values. An invalid value is returned unchanged; its
/// problem is reported with the step that uses it.
fn normalized(option: &str, value: &Value) -> String {
    let mut job = Job::default();
    let text = option_text(option, value);
    match text.and_then(|text| job.set(option, &text)) {
        Some(Ok(())) => format!("{job:?}"),
        _ => value.to_string(),
    }
}

/// Number of value combinations. There may be too many to store.
pub(super) fn cell_count(axes: &[SweepAxis]) -> usize {
    let lengths = axes.iter().map(|axis| axis.values.len());
    lengths.fold(1, usize::saturating_mul)
}

/// All value combinations; the last option varies fastest. Without a sweep, there is one empty
/// combination. The caller limits their number.
pub(super) fn cells(axes: &[SweepAxis]) -> Vec<Vec<Setting<'_>>> {
    let mut cells: Vec<Vec<Setting>> = vec![Vec::new()];
    for axis in axes {
        let extended = cells.iter().flat_map(|cell| {
            let values = axis.values.iter();
            values.map(move |value| [&cell[..], &[(axis.option.as_str(), value)]].concat())
        });
        cells = extended.collect();
    }
    cells
}

/// Sets the values in all jobs of a step.
pub(super) fn with_values(mut step: Value, cell: &[Setting]) -> Value {
    let jobs = step.get_mut("jobs").and_then(Value::as_array_mut);
    for job in jobs.into_iter().flatten() {
        for (option, value) in cell {
            if let Some(options) = job.as_object_mut() {
                // The job may set the option by an alias.
                options.retain(|name, _| !is_same_option(name, option));
                options.insert((*option).to_owned(), (*value).clone());
            }
        }
    }
    step
}

fn is_same_option(name: &str, other: &str) -> bool {
    let canonical = |name| OptionDoc::find(name).map(|option| option.name);
    canonical(name).is_some() && canonical(name) == canonical(other)
}

/// Appends the values to the step's name.
pub(super) fn named(mut step: StepSpec, cell: &[Setting]) -> StepSpec {
    for (option, value) in cell {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        step.name += &format!(" {option}={value}");
        step.sweep.push(SweepValue {
            option: (*option).to_owned(),
            value,
        });
    }
    step
}

/// Reports an invalid value of a swept option as a problem with the sweep.
pub(super) fn located(problem: Problem, cell: &[Setting]) -> Problem {
    located_in(problem, cell.iter().map(|(option, _)| *option))
}

impl StepSpec {
    /// Reports an invalid value of a swept option as a problem with the sweep.
    #[must_use]
    pub fn located(&self, problem: Problem) -> Problem {
        located_in(
            problem,
            self.sweep.iter().map(|value| value.option.as_str()),
        )
    }
}

fn located_in<'a>(problem: Problem, mut swept: impl Iterator<Item = &'a str>) -> Problem {
    let field = problem.field.as_deref().unwrap_or_default();
    let option = field.rsplit('.').next().unwrap_or_default();
    let swept = swept.any(|swept| swept == option);
    if swept && field.contains("].jobs[") {
        let field = Some(format!("sweep.{option}"));
        return Problem { field, ..problem };
    }
    problem
}

#[cfg(test)]
mod tests {
    use crate::study::parse::parse_study;
    use serde_json::{Value, json};

    fn study(sweep: Value) -> Value {
        json!({"sweep": sweep, "steps": [{"name": "read", "jobs": [
            {"filename": "f", "size": "1m", "rw": "randread", "direct": 1}]}]})
    }

    #[test]
    fn each_combination_is_a_step() {
        let sweep = json!([
            {"option": "bs", "values": ["4k", "64k"]},
            {"option": "iodepth", "values": [1, 8]}]);
        let spec = parse_study(study(sweep)).unwrap();
        let names: Vec<&str> = spec.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "read bs=4k iodepth=1",
                "read bs=4k iodepth=8",
                "read bs=64k iodepth=1",
                "read bs=64k iodepth=8"
            ]
        );
        assert_eq!(spec.steps[3].jobs[0]["iodepth"], 8);
        assert_eq!(spec.steps[3].sweep[0].value, "64k");
        assert!(spec.steps.iter().all(|step| step.definition == 0));
    }

    #[test]
    fn swept_values_replace_values_set_by_an_alias() {
        let mut study = study(json!([{"option": "blocksize", "values": ["4k", "8k"]}]));
        study["steps"][0]["jobs"][0]["bs"] = json!("64k");
        let spec = parse_study(study).unwrap();
        let job = &spec.steps[1].jobs[0];
        assert_eq!((&job["blocksize"], job.get("bs")), (&json!("8k"), None));
    }

    #[test]
    fn rejects_large_sweeps_before_combining_values() {
        let many: Vec<u32> = (1..=60_000).collect();
        let sweep = json!([
            {"option": "iodepth", "values": many},
            {"option": "numjobs", "values": many}]);
        let problems = parse_study(study(sweep)).unwrap_err();
        assert!(problems[0].detail.contains("3600000000 value combinations"));
        let sweep = vec![json!({"option": "bs", "values": [1]}); 30_000];
        let problems = parse_study(study(sweep.into())).unwrap_err();
        assert_eq!(problems.len(), 100);
    }

    #[test]
    fn problems_identify_the_sweep() {
        let many: Vec<u32> = (1..=1025).collect();
        for (sweep, field) in [
            (json!([{"option": "iodpeth", "values": [1]}]), "sweep[0]"),
            (json!([{"option": "bs", "values": []}]), "sweep[0]"),
            (
                json!([{"option": "bs", "values": ["4k"]}, {"option": "bs", "values": ["8k"]}]),
                "sweep[1]",
            ),
            (json!([{"option": "bs", "values": ["4k", "x"]}]), "sweep.bs"),
            (
                json!([{"option": "bs", "values": ["4k", "8k", "4k"]}]),
                "sweep[0]",
            ),
            (
                json!([{"option": "bs", "values": ["4k", 4096]}]),
                "sweep[0]",
            ),
            (
                json!([{"option": "bs", "values": ["4k"]}, {"option": "blocksize", "values": ["8k"]}]),
                "sweep[1]",
            ),
            (json!([{"option": "iodepth", "values": many}]), "sweep"),
            (json!(7), "sweep"),
        ] {
            let problems = parse_study(study(sweep.clone())).unwrap_err();
            assert_eq!(problems[0].field.as_deref(), Some(field), "{sweep}");
        }
        let sweep = json!([{"option": "iodpeth", "values": [1]}]);
        let problems = parse_study(study(sweep)).unwrap_err();
        assert_eq!(problems[0].remedy, "Did you mean `iodepth`?");
        let sweep = json!([{"option": "iodepth", "values": many[..1024]}]);
        assert_eq!(parse_study(study(sweep)).unwrap().steps.len(), 1024);
    }
}
