//! Applies sections to jobs: finds each option in the table, parses its value and reports what
//! becomes of it.

use crate::dialect::{
    engines::{self, DEFAULT_ENGINE},
    notes::{NoteText, Notes, quoted},
    number::{self, Flaw, size_text, time_text},
    section::{RawOption, Section},
    source::Span,
    value::{Amount, Invalid, Parsed, Value, parse},
};
use leadline_protocol::{
    job::{
        Job, OPTIONS, OptionDoc,
        fio::{FIO_OPTIONS, FioOption, OptionKind, Reason, Support},
    },
    problem::object_reader::closest,
};

/// The options of a job, or of all jobs after a global section. The last value of an option
/// applies.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub entries: Vec<Entry>,
    kb_base: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub option: &'static FioOption,
    pub value: Value,
    /// The option and its value.
    pub span: Span,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            kb_base: 1024,
        }
    }
}

impl Options {
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.option.name == name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match &self.get(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)?.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// A number, in bytes or microseconds.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        match self.get(name)?.value {
            Value::Number(Amount::Plain(number)) => Some(number),
            Value::Numbers([Some(Amount::Plain(number)), ..]) => Some(number),
            _ => None,
        }
    }

    /// Applies a section. In a job file, fio parses `kb_base` before the other options
    /// (parse.c, `sort_options`).
    pub(crate) fn apply(&mut self, section: &Section, is_job_file: bool, notes: &mut Notes<'_>) {
        let is_first = |raw: &&RawOption| is_job_file && raw.name == "kb_base";
        let (first, rest): (Vec<_>, Vec<_>) = section.options.iter().partition(is_first);
        for raw in first.into_iter().chain(rest) {
            self.set(raw, notes);
            // On a command line, the options of an engine follow the engine (init.c,
            // `fio_options_set_ioengine_opts`).
            if !is_job_file {
                self.check_engine(notes);
            }
        }
        self.check_engine(notes);
    }

    fn check_engine(&self, notes: &mut Notes<'_>) {
        let engine = self.text("ioengine").unwrap_or(DEFAULT_ENGINE);
        for entry in self
            .entries
            .iter()
            .filter(|entry| !entry.option.belongs_to(engine))
        {
            let name = entry.option.name;
            let engines = entry.option.engines.replace(' ', ", ");
            let sentence = format!("fio rejects {name} for ioengine={}.", quoted(engine));
            let remedy =
                format!("Set ioengine before {name}; engines with this option are {engines}.");
            notes.error(
                &entry.span,
                Some(name),
                NoteText::new("wrong_engine", sentence, remedy),
            );
        }
    }

    fn set(&mut self, raw: &RawOption, notes: &mut Notes<'_>) {
        let Some(option) = FioOption::find(&raw.name) else {
            return notes.error(&raw.name_span, Some(&raw.name), unknown_option(&raw.name));
        };
        if raw.is_open {
            let value = Value::Text(raw.value.clone().unwrap_or_default());
            self.entries
                .retain(|entry| entry.option.name != option.name);
            self.entries.push(Entry {
                option,
                value,
                span: raw.span(),
            });
            return;
        }
        let parsed = match parse(option.kind, raw.value.as_deref(), self.kb_base) {
            Ok(parsed) => parsed,
            Err(invalid) => {
                let text = invalid_value(option, raw, &invalid);
                return notes.error(&raw.span(), Some(option.name), text);
            }
        };
        let mut parsed = parsed;
        resolve_sizes(option, &mut parsed, self.kb_base);
        report_support(option, raw, &parsed, notes);
        report_flaws(option, raw, &parsed, self.kb_base, notes);
        if let ("kb_base", Value::Text(base)) = (option.name, &parsed.value) {
            match base.as_str() {
                "1000" => self.kb_base = 1000,
                "1024" => self.kb_base = 1024,
                _ => {
                    let text = NoteText::new("bad_value", "kb_base must be 1000 or 1024.", "");
                    notes.error(&raw.value_span, Some("kb_base"), text);
                }
            }
        }
        self.store(option, parsed.value, raw.span());
        check_value(self, option, raw, notes);
    }

    /// Stores a value as the last one.
    pub(crate) fn store(&mut self, option: &'static FioOption, value: Value, span: Span) {
        let (option, value) = match (option.name, value) {
            // One variable of fio, negated (options.c).
            ("buffered", Value::Flag(flag)) => match FioOption::find("direct") {
                Some(direct) => (direct, Value::Flag(!flag)),
                None => (option, Value::Flag(flag)),
            },
            ("rwmixwrite", Value::Number(Amount::Plain(percent))) => {
                let read = FioOption::find("rwmixread").unwrap_or(option);
                (read, Value::Number(Amount::Plain(100 - percent)))
            }
            (_, value) => (option, value),
        };
        let earlier = self
            .entries
            .iter()
            .position(|entry| entry.option.name == option.name);
        let earlier = earlier.map(|index| self.entries.remove(index));
        let value = value.merged_with(earlier.as_ref().map(|entry| &entry.value));
        self.entries.push(Entry {
            option,
            value,
            span,
        });
    }
}

fn unknown_option(name: &str) -> NoteText {
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

fn invalid_value(option: &FioOption, raw: &RawOption, invalid: &Invalid) -> NoteText {
    let name = option.name;
    let value = quoted(raw.value.as_deref().unwrap_or_default());
    match (invalid, option.kind) {
        (Invalid::Missing, OptionKind::Flag) => NoteText::new(
            "bool_without_value",
            format!("{name} needs a value; fio rejects it without one."),
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
            format!("{name} needs a value, so fio takes the next word as its value."),
            format!("Write --{name}=1."),
        ),
        (Invalid::NotAFlag, _) => NoteText::new(
            "bad_value",
            format!("`{value}` is not a value of {name}."),
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
fn report_support(
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
        Support::Refused(reason) if is_default(option, &parsed.value) => {
            debug_assert_ne!(reason, Reason::Removed);
            let sentence = format!("{name} has no effect: this is fio's default.");
            notes.info(
                &span,
                Some(name),
                NoteText::new("default_value", sentence, ""),
            );
        }
        Support::Refused(reason) => {
            let sentence = format!("{name} {}", reason.sentence());
            let text = NoteText::new("unsupported_option", sentence, reason.remedy());
            notes.error(&span, Some(name), text);
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

fn report_flaws(
    option: &FioOption,
    raw: &RawOption,
    parsed: &Parsed,
    kb_base: u64,
    notes: &mut Notes<'_>,
) {
    let name = Some(option.name);
    let span = &raw.value_span;
    let value = quoted(raw.value.as_deref().unwrap_or_default().trim());
    let meaning = meaning(option.kind, &parsed.value);
    for flaw in &parsed.flaws {
        match flaw {
            Flaw::Fraction(better) => {
                let sentence = format!(
                    "fio reads `{value}` as {meaning}: it ignores the fraction and the unit."
                );
                let remedy = match better {
                    Some(better) => format!("Write {better}."),
                    None => "Write an integer with a smaller unit.".into(),
                };
                let text = NoteText::new("fraction", sentence, remedy);
                let text = match better {
                    Some(better) => text.replace_with(better.as_str()),
                    None => text,
                };
                notes.error(span, name, text);
            }
            Flaw::TimeUnit(unit) => {
                let sentence =
                    format!("fio reads `{value}` as {meaning}: it has no unit of this name.");
                let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
                let better = format!("{digits}{unit}");
                let text = NoteText::new("seconds_suffix", sentence, format!("Write {better}."));
                notes.error(span, name, text.replace_with(better));
            }
            Flaw::UnknownUnit(unit) => {
                let sentence = format!(
                    "fio reads `{value}` as {meaning}: `{}` is not a unit.",
                    quoted(unit)
                );
                let code = match option.kind {
                    OptionKind::Seconds
                    | OptionKind::TimeRange
                    | OptionKind::Micros
                    | OptionKind::Times => "seconds_suffix",
                    _ => "unknown_unit",
                };
                let text = NoteText::new(code, sentence, "Use k, m, g, t, or s, ms, us.");
                notes.error(span, name, text);
            }
            Flaw::LeadingSpace(better) => {
                let sentence = format!(
                    "fio reads ` {value}` as {meaning}: the space after `=` hides the unit."
                );
                let text = NoteText::new("leading_space", sentence, "Remove the space.");
                notes.error(span, name, text.replace_with(better.as_str()));
            }
            Flaw::TooLarge => {
                let sentence = format!("`{value}` does not fit into 64 bits.");
                notes.error(
                    span,
                    name,
                    NoteText::new("too_large", sentence, "Use a smaller number."),
                );
            }
            Flaw::DecimalUnit(unit) => {
                let sentence = format!(
                    "`{value}` is {meaning}: fio's `{}` is a power of 1000 with kb_base={kb_base}.",
                    quoted(unit)
                );
                let remedy = if kb_base == 1024 {
                    "Write k, m or g for powers of 1024."
                } else {
                    "Write kib, mib or gib for powers of 1024."
                };
                let code = if unit.to_ascii_lowercase().ends_with("ib") {
                    "kib_decimal"
                } else {
                    "ki_decimal"
                };
                notes.warning(span, name, NoteText::new(code, sentence, remedy));
            }
        }
    }
    if parsed.is_pair && option.kind == OptionKind::Numbers {
        let sentence = format!("`{value}` is not a range: it sets {meaning}.");
        let remedy = match option.name {
            "bs" => "Use bsrange for a range, or a comma to make this clear.",
            _ => "Use a comma to make this clear.",
        };
        notes.warning(span, name, NoteText::new("bs_pair", sentence, remedy));
    }
}

/// A value in words.
pub(crate) fn meaning(kind: OptionKind, value: &Value) -> String {
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

/// Checks a value that the job would have with the job's own parser.
fn check_value(options: &Options, option: &FioOption, raw: &RawOption, notes: &mut Notes<'_>) {
    let Some(entry) = options.get(option.name) else {
        return;
    };
    let Some(doc) = option.job_option() else {
        return;
    };
    let name = Some(option.name);
    if option.name == "ioengine" {
        if let Some(text) = engines::check(options.text("ioengine").unwrap_or_default()) {
            notes.error(&raw.span(), name, text);
        }
        return;
    }
    if let Value::Number(Amount::Percent(percent)) = entry.value
        && option.kind != OptionKind::Extent
    {
        let sentence = format!(
            "fio reads `{percent}%` as {}: {} takes no percent sign.",
            -1 - percent,
            option.name
        );
        let text = NoteText::new("percent_sign", sentence, format!("Write {percent}."));
        notes.error(
            &raw.value_span,
            name,
            text.replace_with(percent.to_string()),
        );
        return;
    }
    if AT_LEAST_ONE.contains(&option.name) && is_zero(&entry.value) {
        let sentence = format!("{} must be at least 1.", option.name);
        notes.error(
            &raw.value_span,
            name,
            NoteText::new("out_of_range", sentence, "Use a larger number."),
        );
        return;
    }
    if let Some(Err(reason)) = Job::check(doc.name, &job_text(doc, entry)) {
        let text = NoteText::new("unsupported_value", format!("{reason}."), doc.help);
        notes.error(&raw.value_span, name, text);
    }
}

/// Writes sizes within a text in units that do not depend on `kb_base`.
fn resolve_sizes(option: &FioOption, parsed: &mut Parsed, kb_base: u64) {
    let Value::Text(text) = &mut parsed.value else {
        return;
    };
    let flaws = &mut parsed.flaws;
    let mut resolve = |size: &str| match number::bytes(size, kb_base) {
        Some(number) => {
            flaws.extend(number.flaw);
            size_text(number.value)
        }
        None => size.to_owned(),
    };
    *text = match (option.name, text.split_once(':')) {
        ("bssplit", _) => {
            let mut parts = Vec::new();
            for part in text.split(',') {
                let mut entries = Vec::new();
                for entry in part.split(':') {
                    entries.push(match entry.split_once('/') {
                        Some((size, share)) => format!("{}/{share}", resolve(size)),
                        None => resolve(entry),
                    });
                }
                parts.push(entries.join(":"));
            }
            parts.join(",")
        }
        ("rw", Some((rw, modifier))) => match modifier.strip_prefix('-') {
            Some(size) => format!("{rw}:-{}", resolve(size)),
            None => format!("{rw}:{}", resolve(modifier)),
        },
        _ => return,
    };
}

/// Options whose value 0 fio rejects, or, for numjobs, takes for the maximum.
const AT_LEAST_ONE: [&str; 5] = ["iodepth", "numjobs", "bs", "ba", "filesize"];

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Number(amount) => *amount == Amount::Plain(0),
        Value::Numbers(slots) => slots.contains(&Some(Amount::Plain(0))),
        _ => false,
    }
}

/// A value in the syntax of a job.
pub(crate) fn job_text(doc: &OptionDoc, entry: &Entry) -> String {
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
            let default = Amount::Plain(unset(entry.option.name));
            directions(slots.map(|slot| amount(&slot.unwrap_or(default))))
        }
        Value::Ranges(slots) => {
            let default = unset("bs");
            let range = |(min, max)| format!("{}-{}", size_text(min), size_text(max));
            directions(slots.map(|slot| range(slot.unwrap_or((default, default)))))
        }
    }
}

/// Value of a direction that was not given.
pub(crate) fn unset(name: &str) -> i64 {
    match name {
        "bs" => 4096,
        "percentage_random" => 100,
        _ => 0,
    }
}

/// `all`, `read,write` or `read,write,trim`.
fn directions([read, write, trim]: [String; 3]) -> String {
    if read == write && write == trim {
        read
    } else if write == trim {
        format!("{read},{write}")
    } else {
        format!("{read},{write},{trim}")
    }
}
