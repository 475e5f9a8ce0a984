//! Options in a form that can be compared with fio's values.

use crate::dialect::{
    option_value::{OptionValue, default_if_unset},
    options::Options,
    value::{Amount, Value},
};
use leadline_protocol::job::fio::OptionKind;
use serde_json::{Map, Value as Json, json};

impl Options {
    /// Returns the options by name. Numbers are in bytes or microseconds; values for directions are
    /// in the order read, write, trim.
    pub(crate) fn canonical(&self) -> Map<String, Json> {
        let values = self
            .entries
            .iter()
            .filter(|entry| entry.option.name != "name");
        values
            .map(|entry| (entry.option.name.into(), canonical(entry)))
            .collect()
    }
}

fn canonical(entry: &OptionValue) -> Json {
    let amount = |amount: Amount| match amount {
        Amount::Plain(number) => json!(number),
        Amount::Percent(percent) => json!(format!("{percent}%")),
        Amount::Zones(zones) => json!(format!("{zones}z")),
    };
    match &entry.value {
        Value::Text(text) => json!(text),
        Value::Flag(flag) => json!(u8::from(*flag)),
        Value::Number(number) => amount(*number),
        Value::Numbers([first, second, _])
            if matches!(
                entry.option.kind,
                OptionKind::TimeRange | OptionKind::NumberRange
            ) =>
        {
            match (first, second) {
                (Some(first), Some(second)) if first != second => {
                    json!([amount(*first), amount(*second)])
                }
                (first, _) => json!(first.map(amount)),
            }
        }
        Value::Numbers(slots) => {
            let default = Amount::Plain(default_if_unset(entry.option.name));
            json!(slots.map(|slot| amount(slot.unwrap_or(default))))
        }
        Value::Ranges(slots) => json!(slots.map(|slot| slot.map(|(min, max)| [min, max]))),
    }
}
