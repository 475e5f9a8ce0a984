//! Parses one job object.

use crate::{
    job::{Job, OPTIONS, OptionDoc, fio},
    problem::{
        Problem,
        object_reader::{MAX_LISTED, closest},
    },
};
use serde_json::{Map, Value};

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
            let Some(text) = option_text(value) else {
                let detail = format!("{value} is not an option value.");
                let remedy = "Use a number, a string such as \"4k\", true or false.";
                problems.push(Problem::invalid("bad_value", field, detail, remedy));
                continue;
            };
            match job.set(name, &text) {
                Some(Ok(())) => job.apply_last_mix(name),
                Some(Err(reason)) => problems.push(bad_value(field, name, &reason)),
                None => problems.push(unknown_option(field, name)),
            }
        }
        job
    }

    /// Checks the value of one option, independently of other options. Returns `None` if there is
    /// no such option.
    pub fn check(name: &str, text: &str) -> Option<Result<(), String>> {
        Self::default().set(name, text)
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

fn option_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn bad_value(field: String, name: &str, reason: &str) -> Problem {
    let help = OptionDoc::find(name)
        .map(|option| format!("{}: {}", option.name, option.help))
        .unwrap_or_default();
    Problem::invalid("bad_value", field, format!("{reason}."), help)
}

fn unknown_option(field: String, name: &str) -> Problem {
    if let Some(remedy) = fio::remedy(name) {
        let detail = format!("fio's option `{name}` is not supported.");
        return Problem::invalid("unsupported_option", field, detail, remedy);
    }
    let names = OPTIONS
        .iter()
        .flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied()));
    let remedy = match closest(name, names) {
        Some(known) => format!("Did you mean `{known}`?"),
        None => "See GET /api/v1/options for all options.".into(),
    };
    let detail = format!("Unknown option `{name}`.");
    Problem::invalid("unknown_option", field, detail, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
