//! Notes about options that are unknown, invalid, ignored or rejected.

use crate::dialect::{
    notes::{NoteText, Notes, quoted},
    section::RawOption,
    value::{Amount, Invalid, Parsed, Value},
};
use leadline_protocol::{
    job::{
        OPTIONS,
        fio::{
            FIO_OPTIONS, FioOption, OptionKind, Reason, Support, find_option,
            number::{size_text, time_text},
        },
    },
    problem::object_reader::closest,
};

pub(crate) fn unknown_option(name: &str) -> NoteText {
    if OPTIONS.iter().any(|option| option.name == name) {
        let sentence = format!("{name} is a Leadline option, which fio does not have.");
        let remedy = "Remove it from the text, and set it in the form or in JSON.";
        return NoteText::new("unknown_option", sentence, remedy);
    }
    if name.is_empty() {
        let sentence = "The line has no option before `=`.";
        return NoteText::new(
            "unknown_option",
            sentence,
            "Write NAME=VALUE, or remove it.",
        );
    }
    let undashed = name.trim_start_matches('-');
    if undashed != name && find_option(undashed).is_some() {
        let sentence = format!(
            "`{}`: options in a job file have no leading dashes.",
            quoted(name)
        );
        return NoteText::new("unknown_option", sentence, format!("Write {undashed}."))
            .replace_with(undashed);
    }
    let names = FIO_OPTIONS
        .iter()
        .flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied()))
        .chain(OPTIONS.iter().map(|option| option.name));
    let sentence = format!("fio has no option `{}`.", quoted(name));
    match closest(name, names) {
        Some(known) => NoteText::new(
            "unknown_option",
            sentence,
            format!("Did you mean `{known}`?"),
        )
        .replace_with(known),
        None => NoteText::new("unknown_option", sentence, "Remove it."),
    }
}

pub(crate) fn invalid_value(option: &FioOption, raw: &RawOption, invalid: &Invalid) -> NoteText {
    let name = option.name;
    let value = quoted(raw.value.as_deref().unwrap_or_default());
    match (invalid, option.kind) {
        (Invalid::Missing, OptionKind::Flag) => NoteText::new(
            "bool_without_value",
            format!("{name} requires a value; fio rejects it without one."),
            format!("Write {name}=1."),
        )
        .replace_with(format!("{}=1", raw.name)),
        (Invalid::Missing, _) => NoteText::new(
            "missing_value",
            format!("{name} has no value."),
            format!("Write {name}=VALUE, or remove it."),
        ),
        (Invalid::NotAFlag, _) if value.starts_with("--") => NoteText::new(
            "bool_without_value",
            format!("{name} requires a value, so fio takes the next word as its value."),
            format!("Write --{name}=1."),
        ),
        (Invalid::NotAFlag, _) => NoteText::new(
            "bad_value",
            format!("`{value}` is not a valid value for {name}."),
            "Use 0 or 1.",
        ),
        (Invalid::Spaces, _) => NoteText::new(
            "bad_value",
            format!("fio rejects the spaces in the value of {name}."),
            "Remove the spaces.",
        )
        .replace_with(format!("{}={}", raw.name, value.trim())),
        (Invalid::NotANumber, OptionKind::Ranges) => NoteText::new(
            "bad_value",
            format!("`{value}` is not a range."),
            "Write a range such as 4k-64k.",
        ),
        (Invalid::NotANumber, _) => NoteText::new(
            "bad_value",
            format!("`{value}` is not a number."),
            "Write a number, with a unit if necessary.",
        ),
    }
}

/// Reports an option that has no effect or is rejected.
pub(crate) fn report_support(
    option: &'static FioOption,
    raw: &RawOption,
    parsed: &Parsed,
    notes: &mut Notes<'_>,
) {
    let name = option.name;
    let span = raw.span();
    if option.job_option().is_some() {
        return;
    }
    match option.support {
        Support::Harmless(reason) => {
            let sentence = format!("{name} has no effect. {reason}");
            notes.info(&span, Some(name), NoteText::new("no_effect", sentence, ""));
        }
        Support::Rejected(reason) if is_default(option, &parsed.value) => {
            debug_assert_ne!(reason, Reason::Removed);
            let sentence = format!("{name} has no effect: this is fio's default.");
            notes.info(
                &span,
                Some(name),
                NoteText::new("default_value", sentence, ""),
            );
        }
        Support::Rejected(reason) => {
            let sentence = format!("{name} {}", reason.sentence());
            let text = NoteText::new("unsupported_option", sentence, reason.remedy());
            notes.error(&span, Some(name), text);
        }
        Support::Import if matches!(name, "group_reporting" | "new_group") => {
            let sentence = format!(
                "{name} has no effect. Results are reported per job and for the whole run."
            );
            notes.info(&span, Some(name), NoteText::new("no_effect", sentence, ""));
        }
        Support::Job | Support::Import => {}
    }
}

fn is_default(option: &FioOption, value: &Value) -> bool {
    match value {
        _ if option.default.is_empty() => false,
        Value::Text(text) => text == option.default,
        Value::Flag(flag) => option.default == if *flag { "1" } else { "0" },
        Value::Number(Amount::Plain(number)) => option.default == number.to_string(),
        Value::Numbers(slots) => slots.iter().flatten().all(
            |slot| matches!(slot, Amount::Plain(number) if option.default == number.to_string()),
        ),
        Value::Number(_) | Value::Ranges(_) => false,
    }
}

/// A value as text, with its unit.
pub(crate) fn meaning(option: &FioOption, value: &Value) -> String {
    let kind = option.kind;
    let is_size = option
        .job_option()
        .is_some_and(|doc| doc.kind.contains("size"));
    let amount = |amount: &Amount| match (amount, kind) {
        (Amount::Percent(percent), _) => format!("{percent} %"),
        (Amount::Zones(zones), _) => format!("{zones} zones"),
        (
            Amount::Plain(us),
            OptionKind::Seconds | OptionKind::TimeRange | OptionKind::Micros | OptionKind::Times,
        ) => match us % 1000 {
            0 => time_text(*us),
            _ => format!("{us} µs"),
        },
        (Amount::Plain(bytes), _) if is_size && *bytes >= 1024 => size_text(*bytes),
        (Amount::Plain(number), _) => number.to_string(),
    };
    match value {
        Value::Text(text) => text.clone(),
        Value::Flag(flag) => u8::from(*flag).to_string(),
        Value::Number(number) => amount(number),
        Value::Numbers([Some(first), Some(second), Some(third)])
            if first == second && second == third =>
        {
            amount(first)
        }
        Value::Numbers(slots) => {
            let directions = ["reads", "writes", "trims"].iter().zip(slots);
            let parts: Vec<String> = directions
                .filter_map(|(direction, slot)| {
                    Some(format!("{} for {direction}", amount(slot.as_ref()?)))
                })
                .collect();
            parts.join(", ")
        }
        Value::Ranges(slots) => {
            let ranges = slots.iter().flatten();
            let texts = ranges.map(|(min, max)| format!("{}-{}", size_text(*min), size_text(*max)));
            texts.collect::<Vec<_>>().join(",")
        }
    }
}
