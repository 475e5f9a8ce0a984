//! Looks up each option of a job in the table, parses its value, and reports problems.

use crate::dialect::{
    engines::{self, DEFAULT_ENGINE},
    misread_values,
    notes::{NoteText, Notes, quoted},
    option_notes::{invalid_value, report_support, unknown_option},
    option_value::{OptionValue, job_text},
    section::{RawOption, Section},
    source::Span,
    value::{Amount, Parsed, Value, parse},
    zones::fill_in_zone_sizes,
};
use leadline_protocol::job::{
    Job,
    fio::{
        FioOption, OptionKind, find_option,
        number::{self, size_text},
    },
};

/// The options of a job, or of all jobs after a global section. The last value of an option
/// applies.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub entries: Vec<OptionValue>,
    kb_base: u64,
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
    pub(crate) fn get(&self, name: &str) -> Option<&OptionValue> {
        self.entries.iter().find(|entry| entry.option.name == name)
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<OptionValue> {
        let mut entries = self.entries.iter();
        let index = entries.position(|entry| entry.option.name == name)?;
        Some(self.entries.remove(index))
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
    pub(crate) fn apply(&mut self, section: &Section, notes: &mut Notes<'_>) {
        let is_first = |raw: &&RawOption| section.is_in_file && raw.name == "kb_base";
        let (first, rest): (Vec<_>, Vec<_>) = section.options.iter().partition(is_first);
        for raw in first.into_iter().chain(rest) {
            if notes.is_full() {
                return;
            }
            self.set(raw, notes);
            // On a command line, an engine's options must follow `ioengine` (init.c,
            // `fio_options_set_ioengine_opts`).
            if !section.is_in_file {
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
            .filter(|entry| !entry.option.applies_to(engine))
        {
            let name = entry.option.name;
            let engines = entry.option.engines.replace(' ', ", ");
            let sentence = format!("fio rejects {name} for ioengine={}.", quoted(engine));
            let remedy = format!("Put ioengine before {name}; it is supported by {engines}.");
            notes.error(
                &entry.span,
                Some(name),
                NoteText::new("wrong_engine", sentence, remedy),
            );
        }
    }

    fn set(&mut self, raw: &RawOption, notes: &mut Notes<'_>) {
        let Some(option) = find_option(&raw.name) else {
            return notes.error(&raw.name_span, Some(&raw.name), unknown_option(&raw.name));
        };
        if raw.is_incomplete {
            let value = Value::Text(raw.value.clone().unwrap_or_default());
            self.entries
                .retain(|entry| entry.option.name != option.name);
            self.entries.push(OptionValue {
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
        misread_values::add_notes(option, raw, &parsed, self.kb_base, notes);
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

    /// Stores a value after all earlier values, so it takes precedence.
    pub(crate) fn store(&mut self, option: &'static FioOption, value: Value, span: Span) {
        let (option, value) = match (option.name, value) {
            // fio stores both options in one variable, one of them negated (options.c).
            ("buffered", Value::Flag(flag)) => match find_option("direct") {
                Some(direct) => (direct, Value::Flag(!flag)),
                None => (option, Value::Flag(flag)),
            },
            ("rwmixwrite", Value::Number(Amount::Plain(percent))) => {
                let read = find_option("rwmixread").unwrap_or(option);
                (read, Value::Number(Amount::Plain(100 - percent)))
            }
            // Other names of the same engine (ioengines.c, `load_ioengine`).
            ("ioengine", Value::Text(engine)) if ["aio", "linuxaio"].contains(&engine.as_str()) => {
                (option, Value::Text("libaio".into()))
            }
            (_, value) => (option, value),
        };
        let earlier = self
            .entries
            .iter()
            .position(|entry| entry.option.name == option.name);
        let earlier = earlier.map(|index| self.entries.remove(index));
        let earlier = earlier.as_ref().map(|entry| &entry.value);
        let value = match (option.name, &value, earlier) {
            // In fio, each `filename` adds files (options.c, `str_filename_cb`).
            ("filename", Value::Text(new), Some(Value::Text(old)))
                if !new.is_empty() && !old.is_empty() =>
            {
                Value::Text(format!("{old}:{new}"))
            }
            _ => value.merged_with(earlier),
        };
        self.entries.push(OptionValue {
            option,
            value,
            span,
        });
    }
}

/// Passes a job's value to the job parser, and reports its errors.
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
            "fio reads `{percent}%` as {}: {} does not accept a percent sign.",
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
    let directory = options.text("directory").unwrap_or_default();
    if option.name == "directory" && directory.replace("\\:", "").contains(':') {
        let sentence = "Multiple directories in one job are not supported.";
        let text = NoteText::new("unsupported_value", sentence, "Use one job per directory.");
        notes.error(&raw.value_span, name, text);
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

/// Rewrites the sizes in a text value in units that do not depend on `kb_base`.
fn resolve_sizes(option: &FioOption, parsed: &mut Parsed, kb_base: u64) {
    let Value::Text(text) = &mut parsed.value else {
        return;
    };
    if option.name == "random_distribution" {
        if let Some(zones) = fill_in_zone_sizes(text) {
            *text = zones;
        } else if let Some(blocks) = text.strip_prefix("sequence:") {
            // A comma separates directions in a job.
            let blocks: Vec<&str> = blocks.split(',').map(str::trim).collect();
            *text = format!("sequence:{}", blocks.join(":"));
        }
        return;
    }
    let misread_values = &mut parsed.misread_values;
    let mut resolve = |size: &str| match number::bytes(size, kb_base) {
        Some(number) => {
            misread_values.extend(number.flaw);
            size_text(number.value)
        }
        None => size.to_owned(),
    };
    *text = match (option.name, text.split_once(':')) {
        ("bssplit" | "cmdprio_bssplit", _) => {
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

/// Options that must be at least 1: fio rejects 0 or, for `numjobs`, treats it as the maximum.
const AT_LEAST_ONE: [&str; 5] = ["iodepth", "numjobs", "bs", "ba", "filesize"];

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Number(amount) => *amount == Amount::Plain(0),
        Value::Numbers(slots) => slots.contains(&Some(Amount::Plain(0))),
        _ => false,
    }
}
