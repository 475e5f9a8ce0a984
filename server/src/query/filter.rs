//! What a list of runs is narrowed by: free text with `key:value` words, as typed. Pure; `store::list` makes SQL of it.
//!
//! `rw:rand tag:nightly -status:failed "my disk"` means: pattern begins with rand, has the tag, did not fail, and the
//! text occurs in name, target, tags or notes. Values of one key may be separated by commas.

use leadline_protocol::problem::Problem;
use leadline_protocol::query::{RunQuery, RunSort, SortOrder};

/// The words of `status`.
const STATUSES: &[&str] = &[
    "queued",
    "preparing",
    "measuring",
    "finishing",
    "done",
    "failed",
    "cancelled",
    "interrupted",
];
/// The words of `rw`.
const PATTERNS: &[&str] = &[
    "read",
    "write",
    "trim",
    "randread",
    "randwrite",
    "randtrim",
    "rw",
    "randrw",
];
/// The words of `mode`.
const MODES: &[&str] = &["buffered", "direct", "raw", "null"];
/// The words of `verdict`.
const VERDICTS: &[&str] = &[
    "device",
    "readahead",
    "merged",
    "page_cache",
    "deferred_write",
    "unwritten",
    "no_device",
    "amplified",
    "foreign",
    "mixed",
    "unknown",
];
/// The most words in one filter: each is a condition that every run is held against.
const MAX_WORDS: usize = 32;
/// The most runs on one page.
pub const MAX_LIMIT: u32 = 200;
/// Runs on one page when nothing is said.
const DEFAULT_LIMIT: u32 = 50;

/// A column that a filter knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Key {
    /// Where runs stand.
    Status,
    /// Pattern.
    Rw,
    /// Path to the device.
    Mode,
    /// Where the I/O went.
    Verdict,
    /// Kernel name of the device.
    Device,
    /// Host.
    Host,
    /// The study that it is a step of.
    Study,
}

/// One condition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Term {
    /// The text, in lower case, occurs in name, target, tags or notes.
    Text(String),
    /// The name has the text in it.
    Name(String),
    /// It has one of these tags.
    Tag(Vec<String>),
    /// The column holds one of these words.
    Is(Key, Vec<String>),
}

/// A condition, or its opposite.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Condition {
    /// What must hold.
    pub term: Term,
    /// Or must not.
    pub negated: bool,
}

/// A list as asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// What must hold of every run.
    pub conditions: Vec<Condition>,
    /// Sorted by what.
    pub sort: RunSort,
    /// Which way.
    pub order: SortOrder,
    /// How many on a page.
    pub limit: u32,
    /// Where the page begins.
    pub cursor: Option<Cursor>,
}

/// The last run of the page before: its number, and the value that is sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// Its number.
    pub number: u64,
    /// Its value, where it has one.
    pub value: Option<Value>,
}

/// A value that runs are sorted by.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Cursor {
    /// As it stands in `next_cursor`.
    pub fn encode(&self) -> String {
        match &self.value {
            None => self.number.to_string(),
            Some(Value::Number(number)) => format!("{}:n{number}", self.number),
            Some(Value::Text(text)) => format!("{}:t{text}", self.number),
        }
    }

    fn decode(text: &str) -> Option<Self> {
        let (number, value) = text
            .split_once(':')
            .map_or((text, None), |(number, value)| (number, Some(value)));
        let value = match value.map(|value| (value.as_bytes().first(), value)) {
            None => None,
            Some((Some(b'n'), value)) => Some(Value::Number(value[1..].parse().ok()?)),
            Some((Some(b't'), value)) => Some(Value::Text(value[1..].into())),
            Some(_) => return None,
        };
        Some(Self {
            number: number.parse().ok()?,
            value,
        })
    }
}

impl Filter {
    /// Of a query.
    ///
    /// # Errors
    /// Every bad field.
    pub fn of(query: &RunQuery) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut conditions = conditions(query.q.as_deref().unwrap_or_default(), &mut problems);
        conditions.extend(
            query
                .status
                .as_deref()
                .and_then(|text| statuses(text, &mut problems)),
        );
        conditions.extend(
            query
                .tag
                .as_ref()
                .map(|tag| holds(Term::Tag(vec![tag.clone()]))),
        );
        conditions.extend(
            query
                .host
                .as_ref()
                .map(|host| holds(Term::Is(Key::Host, vec![host.clone()]))),
        );
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let remedy = format!("Write a number from 1 to {MAX_LIMIT}.");
            problems.push(Problem::invalid(
                "bad_value",
                "limit",
                format!("{limit} runs are no page."),
                remedy,
            ));
        }
        let cursor = query.cursor.as_deref().map(Cursor::decode);
        if cursor == Some(None) {
            problems.push(Problem::invalid(
                "bad_value",
                "cursor",
                "This is no cursor.",
                "Send `next_cursor` of the page before as it was.",
            ));
        }
        let (sort, order) = (
            query.sort.unwrap_or_default(),
            query.order.unwrap_or_default(),
        );
        if problems.is_empty() {
            Ok(Self {
                conditions,
                sort,
                order,
                limit,
                cursor: cursor.flatten(),
            })
        } else {
            Err(problems)
        }
    }
}

fn holds(term: Term) -> Condition {
    Condition {
        term,
        negated: false,
    }
}

fn statuses(text: &str, problems: &mut Vec<Problem>) -> Option<Condition> {
    let words: Vec<String> = text
        .split(',')
        .map(|word| word.trim().to_lowercase())
        .collect();
    if let Some(bad) = words.iter().find(|word| !STATUSES.contains(&word.as_str())) {
        let remedy = format!("Use {}.", STATUSES.join(", "));
        problems.push(Problem::invalid(
            "bad_value",
            "status",
            format!("`{bad}` is not a status."),
            remedy,
        ));
        return None;
    }
    Some(holds(Term::Is(Key::Status, words)))
}

fn conditions(text: &str, problems: &mut Vec<Problem>) -> Vec<Condition> {
    let words = words(text);
    if words.len() > MAX_WORDS {
        problems.push(Problem::invalid(
            "too_long",
            "q",
            format!("{} words are too many.", words.len()),
            format!("Use up to {MAX_WORDS}."),
        ));
        return Vec::new();
    }
    words.iter().map(|word| condition(word)).collect()
}

/// Words between spaces; spaces inside double quotes do not count, and the quotes are gone.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            letter if letter.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn condition(word: &str) -> Condition {
    let (negated, body) = word
        .strip_prefix('-')
        .filter(|rest| !rest.is_empty())
        .map_or((false, word), |rest| (true, rest));
    let known = body
        .split_once(':')
        .filter(|(_, value)| !value.is_empty())
        .and_then(|(key, value)| keyed(key, value));
    Condition {
        term: known.unwrap_or_else(|| Term::Text(body.to_lowercase())),
        negated,
    }
}

fn keyed(key: &str, value: &str) -> Option<Term> {
    let values = || {
        value
            .split(',')
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let begins = |words: &[&str]| matching(words, value, |word, value| word.starts_with(value));
    Some(match key.to_lowercase().as_str() {
        "status" => Term::Is(Key::Status, begins(STATUSES)),
        "rw" => Term::Is(Key::Rw, begins(PATTERNS)),
        "mode" => Term::Is(Key::Mode, begins(MODES)),
        "verdict" => Term::Is(
            Key::Verdict,
            matching(VERDICTS, value, |word, value| {
                word.starts_with(value) || word.split('_').any(|part| part == value)
            }),
        ),
        "device" => Term::Is(Key::Device, values()),
        "host" => Term::Is(Key::Host, values()),
        "study" => Term::Is(Key::Study, values()),
        "tag" => Term::Tag(values()),
        "name" => Term::Name(value.to_lowercase()),
        _ => return None,
    })
}

/// The words that one of the values, separated by commas, stands for.
fn matching(words: &[&str], values: &str, fits: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let values: Vec<String> = values
        .split(',')
        .filter(|value| !value.is_empty())
        .map(str::to_lowercase)
        .collect();
    words
        .iter()
        .filter(|word| values.iter().any(|value| fits(word, value)))
        .map(|word| (*word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use leadline_protocol::job::value::RwKind;
    use leadline_protocol::plan::resolved::Mode;
    use leadline_protocol::verdict::VerdictClass;

    use super::*;

    fn check(q: &str, expect: &[(bool, Term)]) {
        let filter = Filter::of(&RunQuery {
            q: Some(q.into()),
            ..RunQuery::default()
        })
        .unwrap();
        let found: Vec<(bool, Term)> = filter
            .conditions
            .into_iter()
            .map(|condition| (condition.negated, condition.term))
            .collect();
        assert_eq!(found, expect, "{q}");
    }

    fn is(key: Key, words: &[&str]) -> Term {
        Term::Is(key, words.iter().map(|word| (*word).into()).collect())
    }

    #[test]
    fn words_and_keys() {
        check("", &[]);
        check(
            "  My  disk ",
            &[
                (false, Term::Text("my".into())),
                (false, Term::Text("disk".into())),
            ],
        );
        check("\"my disk\"", &[(false, Term::Text("my disk".into()))]);
        check("-slow", &[(true, Term::Text("slow".into()))]);
        check("-", &[(false, Term::Text("-".into()))]);
        check("/dev/disk:1", &[(false, Term::Text("/dev/disk:1".into()))]);
        check("rw:", &[(false, Term::Text("rw:".into()))]);
        check("rw:randread", &[(false, is(Key::Rw, &["randread"]))]);
        check(
            "rw:rand",
            &[(
                false,
                is(Key::Rw, &["randread", "randwrite", "randtrim", "randrw"]),
            )],
        );
        check("rw:read,write", &[(false, is(Key::Rw, &["read", "write"]))]);
        check("RW:Read", &[(false, is(Key::Rw, &["read"]))]);
        check(
            "verdict:cache",
            &[(false, is(Key::Verdict, &["page_cache"]))],
        );
        check(
            "verdict:device",
            &[(false, is(Key::Verdict, &["device", "no_device"]))],
        );
        check("-status:fail", &[(true, is(Key::Status, &["failed"]))]);
        check("status:bogus", &[(false, is(Key::Status, &[]))]);
        check(
            "mode:raw device:vda,vdb",
            &[
                (false, is(Key::Mode, &["raw"])),
                (false, is(Key::Device, &["vda", "vdb"])),
            ],
        );
        check(
            "tag:Nightly name:\"My Run\"",
            &[
                (false, Term::Tag(vec!["Nightly".into()])),
                (false, Term::Name("my run".into())),
            ],
        );
    }

    #[test]
    fn every_bad_field_is_told() {
        let query = RunQuery {
            status: Some("done,dead".into()),
            limit: Some(0),
            cursor: Some("x".into()),
            ..RunQuery::default()
        };
        let fields: Vec<String> = Filter::of(&query)
            .unwrap_err()
            .into_iter()
            .filter_map(|problem| problem.field)
            .collect();
        assert_eq!(fields, ["status", "limit", "cursor"]);
        let long = RunQuery {
            q: Some("a ".repeat(33)),
            ..RunQuery::default()
        };
        assert_eq!(Filter::of(&long).unwrap_err()[0].code, "too_long");
    }

    #[test]
    fn cursors_come_back_as_they_went() {
        for value in [
            None,
            Some(Value::Number(-1.5e300)),
            Some(Value::Number(12.0)),
            Some(Value::Text("a:b".into())),
            Some(Value::Text(String::new())),
        ] {
            let cursor = Cursor { number: 42, value };
            assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
        }
        for bad in ["", "x", "1:", "1:x", "1:nx", "-1"] {
            assert_eq!(Cursor::decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_words_are_those_of_the_wire() {
        let known = |words: &[&str], word: serde_json::Value| {
            assert!(words.contains(&word.as_str().unwrap()), "{word}")
        };
        crate::scheduler::states::ALL
            .iter()
            .for_each(|status| known(STATUSES, serde_json::json!(status)));
        [RwKind::Read, RwKind::Randtrim, RwKind::Rw, RwKind::Randrw]
            .iter()
            .for_each(|rw| known(PATTERNS, serde_json::json!(rw)));
        [Mode::Buffered, Mode::Direct, Mode::Raw, Mode::Null]
            .iter()
            .for_each(|mode| known(MODES, serde_json::json!(mode)));
        use VerdictClass::*;
        let classes = [
            Device,
            Readahead,
            Merged,
            PageCache,
            DeferredWrite,
            Unwritten,
            NoDevice,
            Amplified,
            Foreign,
            Mixed,
            Unknown,
        ];
        classes
            .iter()
            .for_each(|class| known(VERDICTS, serde_json::json!(class)));
        assert_eq!(classes.len(), VERDICTS.len());
    }
}
