//! Parses one job object.

use crate::{
    job::{Job, OPTIONS, OptionDoc, fio, range::MAX_JSON_INTEGER},
    problem::{
        Problem,
        object_reader::{MAX_LISTED, closest},
    },
};
use serde_json::{Map, Number, Value};

impl Job {
    /// Parses the options. `path` is prepended to option names in problems.
    pub(crate) fn parse(
        options: &Map<String, Value>,
        path: &str,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut job = Self::default();
        for (name, value) in options {
            if problems.len() >= MAX_LISTED {
                break;
            }
            let field = format!("{path}{name}");
            if let Some(other) = other_name(options, name) {
                let detail = format!("{name} and {other} are the same option.");
                let remedy = "Remove one of them.";
                problems.push(Problem::invalid(
                    "conflicting_options",
                    field,
                    detail,
                    remedy,
                ));
                continue;
            }
            let Some(text) = option_text(name, value) else {
                let detail = format!("{value} is not a valid value for {name}.");
                let remedy =
                    "Use a number, or a string such as \"4k\"; flags also accept true and false.";
                problems.push(Problem::invalid("bad_value", field, detail, remedy));
                continue;
            };
            match job.set(name, &with_omitted_directions(name, text)) {
                Some(Ok(())) => job.apply_last_mix(name),
                Some(Err(reason)) => problems.push(bad_value(field, name, &reason)),
                None => problems.push(unknown_option(field, name)),
            }
        }
        job.apply_buffered(path, problems);
        job
    }

    /// Checks the value of one option, independently of other options. Returns `None` if there is
    /// no such option.
    pub fn check(name: &str, text: &str) -> Option<Result<(), String>> {
        Self::default().set(name, text)
    }

    /// Converts `buffered` to `direct`, which is its opposite.
    fn apply_buffered(&mut self, path: &str, problems: &mut Vec<Problem>) {
        let Some(buffered) = self.buffered.take() else {
            return;
        };
        if self.direct == Some(buffered) {
            let detail = format!("buffered={0} contradicts direct={0}.", u8::from(buffered));
            problems.push(Problem::invalid(
                "conflicting_options",
                format!("{path}buffered"),
                detail,
                "Remove one of them.",
            ));
        }
        self.direct = Some(!buffered);
    }

    /// `rwmixread` and `rwmixwrite` set the same ratio. The last one applies, as in fio.
    fn apply_last_mix(&mut self, name: &str) {
        match name {
            "rwmixread" => self.rwmixwrite = None,
            "rwmixwrite" => self.rwmixread = None,
            _ => {}
        }
    }
}

/// Finds another name of the same option in the job. Only names that precede `name` alphabetically
/// are considered, so that each pair is reported once.
fn other_name<'a>(options: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let option = OptionDoc::find(name)?;
    let names = std::iter::once(&option.name).chain(option.aliases);
    let mut others = names.filter(|other| **other < name);
    others.find_map(|other| {
        options
            .get_key_value(*other)
            .map(|(other, _)| other.as_str())
    })
}

/// Returns the value as text. Only options with the keywords 0 and 1 accept booleans; numeric
/// options do not.
pub(crate) fn option_text(name: &str, value: &Value) -> Option<String> {
    let accepts_booleans =
        || Job::value_schema(name).is_none_or(|values| values.accepts_booleans());
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number_text(number)),
        Value::Bool(flag) if accepts_booleans() => Some(u8::from(*flag).to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Formats a number. `4096.0` is formatted as an integer, because JSON treats it as one.
fn number_text(number: &Number) -> String {
    let is_integer = |float: &f64| float.fract() == 0.0 && float.abs() <= MAX_JSON_INTEGER as f64;
    match number
        .as_f64()
        .filter(|float| number.is_f64() && is_integer(float))
    {
        Some(float) => (float as i64).to_string(),
        None => number.to_string(),
    }
}

/// Options that accept omitted directions, with fio's value for an omitted direction: `bs=64k,`
/// sets only the size of reads, and `rate=,1m` limits only writes and trims.
const OMITTED_DIRECTION: &[(&str, &str)] = &[
    ("bs", "4k"),
    ("rate", "0"),
    ("rate_iops", "0"),
    ("rate_min", "0"),
    ("rate_iops_min", "0"),
    ("max_latency", "0"),
    ("percentage_random", "100"),
];

/// Fills in omitted directions as fio does (parse.c): each comma ends a value, and the last value
/// applies to the remaining directions.
fn with_omitted_directions(name: &str, text: String) -> String {
    let Some(value) = omitted_direction(name) else {
        return text;
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() == 1 || parts.iter().all(|part| part.is_empty()) {
        return text;
    }
    let filled = parts.into_iter();
    let filled = filled.map(|part| if part.is_empty() { value } else { part });
    filled.collect::<Vec<_>>().join(",")
}

/// fio's value of an omitted direction; `None` if all must be given.
pub(super) fn omitted_direction(name: &str) -> Option<&'static str> {
    let name = OptionDoc::find(name).map_or(name, |option| option.name);
    let mut omitted = OMITTED_DIRECTION.iter();
    omitted
        .find(|(option, _)| *option == name)
        .map(|(_, value)| *value)
}

fn bad_value(field: String, name: &str, reason: &str) -> Problem {
    let help = OptionDoc::find(name)
        .map(|option| format!("{}: {}", option.name, option.help))
        .unwrap_or_default();
    Problem::invalid("bad_value", field, format!("{reason}."), help)
}

/// Suggests the closest option.
pub(crate) fn unknown_option_remedy(name: &str) -> String {
    let names = OPTIONS
        .iter()
        .flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied()));
    match closest(name, names) {
        Some(known) => format!("Did you mean `{known}`?"),
        None => "See GET /api/v1/options for all options.".into(),
    }
}

fn unknown_option(field: String, name: &str) -> Problem {
    if let Some(remedy) = fio::remedy(name) {
        let detail = format!("fio's option `{name}` is not supported.");
        return Problem::invalid("unsupported_option", field, detail, remedy);
    }
    let remedy = unknown_option_remedy(name);
    let detail = format!("Unknown option `{name}`.");
    Problem::invalid("unknown_option", field, detail, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_defaults_are_valid() {
        for option in OPTIONS {
            if let Some(default) = option.default {
                assert!(
                    matches!(Job::default().set(option.name, default), Some(Ok(()))),
                    "{} = {default}",
                    option.name
                );
            }
        }
    }

    #[test]
    fn all_listed_values_are_valid() {
        for option in OPTIONS {
            for value in option.values {
                assert!(
                    matches!(Job::default().set(option.name, value), Some(Ok(()))),
                    "{} = {value}",
                    option.name
                );
            }
        }
    }

    #[test]
    fn omitted_directions_keep_their_default() {
        let job = |options: Value| {
            let mut problems = Vec::new();
            let job = Job::parse(options.as_object().unwrap(), "", &mut problems);
            (job, problems)
        };
        // Sizes as printed by fio 3.33 for the same options.
        for (text, sizes) in [
            ("64k,", [64, 4, 4]),
            (",64k", [4, 64, 64]),
            (",,64k", [4, 4, 64]),
            ("8k,32k,", [8, 32, 4]),
            ("8k,,16k", [8, 4, 16]),
        ] {
            for name in ["bs", "blocksize"] {
                let (job, problems) = job(json!({name: text}));
                let bs = job.bs();
                let kib = [bs.read, bs.write, bs.trim].map(|size| size.0 >> 10);
                assert_eq!((kib, problems.len()), (sizes, 0), "{name}={text}");
            }
        }
        let (rated, _) = job(json!({"rate": ",1m", "rate_iops": "5,"}));
        let rate = rated.rate.unwrap().map(|rate| rate.0);
        assert_eq!((rate.read, rate.write, rate.trim), (0, 1 << 20, 1 << 20));
        let iops = rated.rate_iops.unwrap();
        assert_eq!((iops.read, iops.write, iops.trim), (5, 0, 0));
        for invalid in [json!({"bs": ","}), json!({"bsrange": "4k-8k,"})] {
            assert_eq!(job(invalid.clone()).1.len(), 1, "{invalid}");
        }
    }

    #[test]
    fn aliases_cannot_set_an_option_twice() {
        for (options, field) in [
            (json!({"bs": "4k", "blocksize": "8k"}), "jobs[0].bs"),
            (json!({"blocksize": "8k", "bs": "8k"}), "jobs[0].bs"),
            (json!({"rw": "read", "readwrite": "write"}), "jobs[0].rw"),
        ] {
            let mut problems = Vec::new();
            Job::parse(options.as_object().unwrap(), "jobs[0].", &mut problems);
            let fields: Vec<&str> = problems.iter().filter_map(|p| p.field.as_deref()).collect();
            assert_eq!(fields, [field], "{options}");
        }
    }

    #[test]
    fn buffered_is_the_opposite_of_direct() {
        let direct = |options: Value| {
            let mut problems = Vec::new();
            let job = Job::parse(options.as_object().unwrap(), "jobs[0].", &mut problems);
            let fields = problems.into_iter().filter_map(|problem| problem.field);
            let fields: Vec<String> = fields.collect();
            (job.direct, fields)
        };
        assert_eq!(direct(json!({"buffered": 1})), (Some(false), vec![]));
        assert_eq!(direct(json!({"buffered": 0})), (Some(true), vec![]));
        assert_eq!(direct(json!({"buffered": 0, "direct": 1})).1, [""; 0]);
        assert_eq!(
            direct(json!({"buffered": 1, "direct": 1})).1,
            ["jobs[0].buffered"]
        );
    }
}
