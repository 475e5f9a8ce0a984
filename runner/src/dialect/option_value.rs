//! An option with its value, and the conversion of the value to job syntax.

use crate::dialect::{
    source::Span,
    value::{Amount, Value},
};
use leadline_protocol::job::{
    OptionDoc,
    fio::{
        FioOption, OptionKind,
        number::{size_text, time_text},
    },
};

#[derive(Clone, Debug)]
pub(crate) struct OptionValue {
    pub option: &'static FioOption,
    pub value: Value,
    /// The option and its value.
    pub span: Span,
}

/// Converts a value to the syntax of a job.
pub(crate) fn job_text(doc: &OptionDoc, entry: &OptionValue) -> String {
    let amount = |amount: &Amount| match amount {
        Amount::Percent(percent) => format!("{percent}%"),
        Amount::Zones(zones) => format!("{zones}z"),
        Amount::Plain(number) => match entry.option.kind {
            OptionKind::Seconds
            | OptionKind::TimeRange
            | OptionKind::Micros
            | OptionKind::Times => time_text(*number),
            _ if doc.kind.contains("size") => size_text(*number),
            _ => number.to_string(),
        },
    };
    match &entry.value {
        Value::Text(text) => text.clone(),
        Value::Flag(flag) => u8::from(*flag).to_string(),
        Value::Number(number) => amount(number),
        Value::Numbers([Some(first), second, _])
            if matches!(
                entry.option.kind,
                OptionKind::TimeRange | OptionKind::NumberRange
            ) =>
        {
            match second {
                Some(second) if second != first => format!("{}-{}", amount(first), amount(second)),
                _ => amount(first),
            }
        }
        Value::Numbers(slots) => {
            let default = Amount::Plain(default_if_unset(entry.option.name));
            directions(slots.map(|slot| amount(&slot.unwrap_or(default))))
        }
        Value::Ranges(slots) => {
            let default = default_if_unset("bs");
            let range = |(min, max)| format!("{}-{}", size_text(min), size_text(max));
            directions(slots.map(|slot| range(slot.unwrap_or((default, default)))))
        }
    }
}

/// Returns the default for a direction that has no value.
pub(crate) fn default_if_unset(name: &str) -> i64 {
    match name {
        "bs" => 4096,
        "percentage_random" => 100,
        _ => 0,
    }
}

/// Formats values for the directions in the shortest form: `all`, `read,write` or
/// `read,write,trim`.
fn directions([read, write, trim]: [String; 3]) -> String {
    if read == write && write == trim {
        read
    } else if write == trim {
        format!("{read},{write}")
    } else {
        format!("{read},{write},{trim}")
    }
}
