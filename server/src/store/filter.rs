//! Filter, sort order and page position for the run list.

use leadline_protocol::query::{MAX_NUMBER, RunSort, SortOrder};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Key {
    Number,
    Status,
    Rw,
    /// Formatted block size, such as `4k`.
    Bs,
    Iodepth,
    Numjobs,
    Mode,
    Verdict,
    /// Kernel name of the device.
    Device,
    Host,
    /// Program that measured the run.
    Source,
    Study,
    /// Step number within the study.
    Step,
    /// Fingerprint of the jobs.
    Job,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Term {
    /// Lower-case text in name, target, tags or notes.
    Text(String),
    /// Lower-case text in the name.
    Name(String),
    /// Lower-case text in the target.
    Target(String),
    /// At least one of the tags.
    Tag(Vec<String>),
    /// One of the values.
    OneOf(Key, Vec<String>),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Condition {
    pub term: Term,
    pub negated: bool,
}

impl From<Term> for Condition {
    fn from(term: Term) -> Self {
        Self {
            term,
            negated: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter {
    /// A run must match all conditions.
    pub conditions: Vec<Condition>,
    pub sort: RunSort,
    pub order: SortOrder,
    /// Maximum number of runs per page.
    pub limit: u32,
    pub cursor: Option<Cursor>,
}

/// Position after the last run of the previous page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cursor {
    pub number: u64,
    /// Value of the sort column; `None` for null.
    pub value: Option<SortValue>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SortValue {
    Number(f64),
    Text(String),
}

/// Maximum number of digits in a cursor, as in the schema of `RunQuery::cursor`.
const MAX_DIGITS: usize = 15;

impl Cursor {
    /// Formats `next_cursor`: `NUMBER`, `NUMBER:nVALUE` or `NUMBER:tVALUE`.
    pub(crate) fn encode(&self) -> String {
        match &self.value {
            None => self.number.to_string(),
            Some(SortValue::Number(number)) => format!("{}:n{number}", self.number),
            Some(SortValue::Text(text)) => format!("{}:t{text}", self.number),
        }
    }

    pub(crate) fn decode(text: &str) -> Option<Self> {
        let (number, value) = match text.split_once(':') {
            None => (text, None),
            Some((number, value)) => (number, Some(SortValue::decode(value)?)),
        };
        if number.len() > MAX_DIGITS {
            return None;
        }
        Some(Self {
            number: number.parse().ok().filter(|number| *number <= MAX_NUMBER)?,
            value,
        })
    }
}

impl SortValue {
    fn decode(text: &str) -> Option<Self> {
        match text.strip_prefix('n') {
            Some(number) => {
                let number = number
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite());
                Some(Self::Number(number?))
            }
            None => Some(Self::Text(text.strip_prefix('t')?.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_round_trip() {
        for value in [
            None,
            Some(SortValue::Number(-1.5e300)),
            Some(SortValue::Number(12.0)),
            Some(SortValue::Text("a:b".into())),
            Some(SortValue::Text(String::new())),
        ] {
            let cursor = Cursor { number: 42, value };
            assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
        }
        for invalid in [
            "",
            "x",
            "1:",
            "1:x",
            "1:nx",
            "1:nNaN",
            "1:ninf",
            "-1",
            "9007199254740992",
            "0000000000000001",
        ] {
            assert_eq!(Cursor::decode(invalid), None, "{invalid}");
        }
    }
}
