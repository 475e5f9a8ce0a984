//! Notes about values that do not mean what they seem to mean.

use crate::dialect::{
    notes::{NoteText, Notes, quoted},
    option_notes::meaning,
    section::RawOption,
    value::Parsed,
};
use leadline_protocol::{
    import::ImportSeverity,
    job::fio::{FioOption, OptionKind, number::Flaw},
};

pub(crate) fn add_notes(
    option: &FioOption,
    raw: &RawOption,
    parsed: &Parsed,
    kb_base: u64,
    notes: &mut Notes<'_>,
) {
    let text = raw.value.as_deref().unwrap_or_default().trim();
    let value = FlawedValue {
        option,
        text: quoted(text),
        meaning: meaning(option, &parsed.value),
        kb_base,
    };
    for flaw in &parsed.misread_values {
        let severity = match flaw {
            Flaw::DecimalUnit(_) => ImportSeverity::Warning,
            _ => ImportSeverity::Error,
        };
        notes.add(
            severity,
            &raw.value_span,
            Some(option.name),
            value.note(flaw),
        );
    }
    if parsed.is_pair && option.kind == OptionKind::Numbers {
        notes.warning(&raw.value_span, Some(option.name), value.pair());
    }
}

struct FlawedValue<'a> {
    option: &'a FioOption,
    text: String,
    /// The value as fio interprets it.
    meaning: String,
    kb_base: u64,
}

impl FlawedValue<'_> {
    fn note(&self, flaw: &Flaw) -> NoteText {
        let Self { text, meaning, .. } = self;
        match flaw {
            Flaw::Fraction(better) => self.fraction(better.as_deref()),
            Flaw::TimeUnit(unit) => {
                let sentence = format!("fio reads `{text}` as {meaning}: it has no such unit.");
                let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
                let better = format!("{digits}{unit}");
                NoteText::new("seconds_suffix", sentence, format!("Write {better}."))
                    .replace_with(better)
            }
            Flaw::UnknownUnit(unit) => {
                let (code, remedy) = if self.option.kind.is_time() {
                    ("seconds_suffix", "Use us, ms, s, m, h or d.")
                } else {
                    ("unknown_unit", "Use k, m, g or t.")
                };
                let unit = quoted(unit);
                let sentence = format!("fio reads `{text}` as {meaning}: `{unit}` is not a unit.");
                NoteText::new(code, sentence, remedy)
            }
            Flaw::LeadingSpace(better) => {
                let sentence = format!(
                    "fio reads ` {text}` as {meaning}: the space after `=` hides the unit."
                );
                NoteText::new("leading_space", sentence, "Remove the space.")
                    .replace_with(better.as_str())
            }
            Flaw::TooLarge => {
                let sentence = format!("`{text}` does not fit in 64 bits.");
                NoteText::new("too_large", sentence, "Use a smaller number.")
            }
            Flaw::DecimalUnit(unit) => self.decimal_unit(unit),
        }
    }

    fn fraction(&self, better: Option<&str>) -> NoteText {
        let sentence = format!(
            "fio reads `{}` as {}: it ignores the fraction and the unit.",
            self.text, self.meaning
        );
        match better {
            Some(better) => {
                NoteText::new("fraction", sentence, format!("Write {better}.")).replace_with(better)
            }
            None => NoteText::new(
                "fraction",
                sentence,
                "Write an integer with a smaller unit.",
            ),
        }
    }

    fn decimal_unit(&self, unit: &str) -> NoteText {
        let sentence = format!(
            "`{}` is {}: fio's `{}` is a power of 1000 with kb_base={}.",
            self.text,
            self.meaning,
            quoted(unit),
            self.kb_base
        );
        let remedy = if self.kb_base == 1024 {
            "Write k, m or g for powers of 1024."
        } else {
            "Write kib, mib or gib for powers of 1024."
        };
        let code = if unit.to_ascii_lowercase().ends_with("ib") {
            "kib_decimal"
        } else {
            "ki_decimal"
        };
        NoteText::new(code, sentence, remedy)
    }

    /// A pair of numbers, such as `4k-16k`.
    fn pair(&self) -> NoteText {
        let sentence = format!("`{}` is not a range: it sets {}.", self.text, self.meaning);
        let remedy = match self.option.name {
            "bs" => "Use bsrange for a range, or a comma to make this clear.",
            _ => "Use a comma to make this clear.",
        };
        NoteText::new("bs_pair", sentence, remedy)
    }
}
