//! Parses run list queries: free text and `key:value` terms, as entered in the search field. Pure.
//!
//! `rw:rand tag:nightly -status:failed "my disk"` matches runs with a random access pattern that
//! are tagged `nightly`, did not fail and have the text in their name, target, tags or notes.
//! Commas separate alternative values, and `#12` is the run with that number. A term in quotes is
//! always text.

use crate::store::filter::{Condition, Cursor, Filter, Key, Term};
use leadline_protocol::{
    job::rw::RwKind, plan::job::Mode, problem::Problem, query::RunQuery, status::RunStatus,
    verdict::VerdictClass,
};
use strum::VariantNames;

/// Each term adds an SQL condition that is evaluated for every run.
const MAX_TERMS: usize = 32;
/// Maximum number of values across all terms. SQLite limits the depth of an expression to 1,000.
const MAX_VALUES: usize = 256;
/// Maximum length of a parameter, in bytes. SQLite limits patterns to 50,000 bytes.
const MAX_LENGTH: usize = 8 * 1024;
/// Maximum number of runs per page.
pub(crate) const MAX_LIMIT: u32 = 200;
const DEFAULT_LIMIT: u32 = 50;

/// # Errors
/// One problem per invalid field.
pub(crate) fn parse(query: &RunQuery) -> Result<Filter, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut invalid = |code: &str, field: &str, detail: String, remedy: String| {
        problems.push(Problem::invalid(code, field, detail, remedy));
    };

    for (field, text) in [
        ("q", &query.q),
        ("status", &query.status),
        ("tag", &query.tag),
        ("host", &query.host),
        ("cursor", &query.cursor),
    ] {
        let length = text.as_ref().map_or(0, String::len);
        if length > MAX_LENGTH {
            let detail = format!("{field} is too long ({length} bytes).");
            invalid(
                "too_long",
                field,
                detail,
                format!("Use at most {MAX_LENGTH} bytes."),
            );
        }
    }
    let terms = split(query.q.as_deref().unwrap_or_default());
    let mut conditions: Vec<Condition> = Vec::new();
    if terms.len() <= MAX_TERMS {
        for term in &terms {
            match condition(term) {
                Ok(condition) => conditions.push(condition),
                Err(UnknownKey(key)) => {
                    let detail = format!("Unknown filter key `{key}`.");
                    let keys = KEYS.join(", ");
                    let remedy = format!("Use {keys}, or quote the term to search for text.");
                    invalid("bad_value", "q", detail, remedy);
                }
            }
        }
    } else {
        let detail = format!("Too many filter terms ({}).", terms.len());
        invalid("too_long", "q", detail, format!("Use at most {MAX_TERMS}."));
    }
    let values: usize = conditions.iter().map(value_count).sum();
    if values > MAX_VALUES {
        let detail = format!("Too many filter values ({values}).");
        invalid(
            "too_long",
            "q",
            detail,
            format!("Use at most {MAX_VALUES}."),
        );
    }
    if let Some(text) = &query.status {
        let statuses: Vec<String> = text
            .split(',')
            .map(|status| status.trim().to_lowercase())
            .collect();
        let unknown = |status: &&String| !RunStatus::VARIANTS.contains(&status.as_str());
        if let Some(unknown) = statuses.iter().find(unknown) {
            let remedy = format!("Use {}.", RunStatus::VARIANTS.join(", "));
            let detail = format!("Unknown status `{unknown}`.");
            invalid("bad_value", "status", detail, remedy);
        }
        conditions.push(Term::OneOf(Key::Status, statuses).into());
    }
    if let Some(tag) = &query.tag {
        conditions.push(Term::Tag(vec![tag.clone()]).into());
    }
    if let Some(host) = &query.host {
        conditions.push(Term::OneOf(Key::Host, vec![host.clone()]).into());
    }
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let detail = format!("limit must be between 1 and {MAX_LIMIT}, not {limit}.");
        let remedy = format!("Use a number from 1 to {MAX_LIMIT}.");
        invalid("bad_value", "limit", detail, remedy);
    }
    let cursor = query.cursor.as_deref().map(Cursor::decode);
    if cursor == Some(None) {
        let remedy = "Use `next_cursor` from the previous page.".into();
        invalid("bad_value", "cursor", "Invalid cursor.".into(), remedy);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Filter {
        conditions,
        sort: query.sort.unwrap_or_default(),
        order: query.order.unwrap_or_default(),
        limit,
        cursor: cursor.flatten(),
    })
}

/// A term as entered, without its quotes.
#[derive(Default)]
struct Word {
    text: String,
    /// Whether it starts with a quote, and thus has no key.
    literal: bool,
}

/// Splits at whitespace outside double quotes and removes the quotes.
fn split(text: &str) -> Vec<Word> {
    let mut words = vec![Word::default()];
    let mut quoted = false;
    for letter in text.chars() {
        if letter.is_whitespace() && !quoted {
            words.push(Word::default());
        } else if let Some(word) = words.last_mut() {
            if letter == '"' {
                quoted = !quoted;
                word.literal |= matches!(word.text.as_str(), "" | "-");
            } else {
                word.text.push(letter);
            }
        }
    }
    words.retain(|word| !word.text.is_empty());
    words
}

struct UnknownKey(String);

fn condition(Word { text, literal }: &Word) -> Result<Condition, UnknownKey> {
    let negated = text.len() > 1 && text.starts_with('-');
    let text = if negated { &text[1..] } else { text };
    let term = if *literal { None } else { special_term(text)? };
    Ok(Condition {
        term: term.unwrap_or_else(|| Term::Text(text.to_lowercase())),
        negated,
    })
}

/// Parses `key:value` and `#number`. Returns `None` for text, such as `/dev/disk:1` or a URL.
fn special_term(text: &str) -> Result<Option<Term>, UnknownKey> {
    if let Some(numbers) = text.strip_prefix('#') {
        let is_list = numbers
            .split(',')
            .all(|number| number.parse::<u64>().is_ok());
        return Ok(is_list.then(|| Term::OneOf(Key::Number, list(numbers))));
    }
    let Some((key, value)) = text.split_once(':') else {
        return Ok(None);
    };
    let is_word = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_word || value.is_empty() || value.starts_with('/') {
        return Ok(None);
    }
    let unknown = || UnknownKey(key.to_owned());
    keyed_term(key, value).ok_or_else(unknown).map(Some)
}

fn list(text: &str) -> Vec<String> {
    let values = text.split(',').filter(|value| !value.is_empty());
    values.map(str::to_owned).collect()
}

fn value_count(condition: &Condition) -> usize {
    match &condition.term {
        Term::Text(_) | Term::Name(_) | Term::Target(_) => 1,
        Term::Tag(values) | Term::OneOf(_, values) => values.len(),
    }
}

/// Keys that are useful in the search field, for errors.
const KEYS: [&str; 14] = [
    "rw", "bs", "iodepth", "numjobs", "status", "verdict", "mode", "target", "device", "host",
    "tag", "name", "study", "step",
];

/// Returns `None` for an unknown key.
fn keyed_term(key: &str, value: &str) -> Option<Term> {
    let verbatim = || list(value);
    let matching = |names: &[&str], matches: fn(&str, &str) -> bool| {
        let values = list(&value.to_lowercase());
        names
            .iter()
            .filter(|name| values.iter().any(|value| matches(name, value)))
            .map(|name| (*name).to_owned())
            .collect()
    };
    let by_prefix = |names| matching(names, |name, value| name.starts_with(value));
    Some(match key.to_lowercase().as_str() {
        "status" => Term::OneOf(Key::Status, by_prefix(RunStatus::VARIANTS)),
        "rw" => Term::OneOf(Key::Rw, by_prefix(RwKind::VARIANTS)),
        "mode" => Term::OneOf(Key::Mode, by_prefix(Mode::VARIANTS)),
        "verdict" => {
            let by_part = |name: &str, value: &str| {
                name.starts_with(value) || name.split('_').any(|part| part == value)
            };
            Term::OneOf(Key::Verdict, matching(VerdictClass::VARIANTS, by_part))
        }
        "bs" => Term::OneOf(Key::Bs, list(&value.to_lowercase())),
        "iodepth" => Term::OneOf(Key::Iodepth, verbatim()),
        "numjobs" => Term::OneOf(Key::Numjobs, verbatim()),
        "target" => Term::Target(value.to_lowercase()),
        "device" => Term::OneOf(Key::Device, verbatim()),
        "host" => Term::OneOf(Key::Host, verbatim()),
        "study" => Term::OneOf(Key::Study, verbatim()),
        "step" => Term::OneOf(Key::Step, verbatim()),
        "job" => Term::OneOf(Key::Job, verbatim()),
        "tag" => Term::Tag(verbatim()),
        "name" => Term::Name(value.to_lowercase()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(q: &str, expected: &[(bool, Term)]) {
        let query = RunQuery {
            q: Some(q.into()),
            ..RunQuery::default()
        };
        let conditions = parse(&query).unwrap().conditions.into_iter();
        let found: Vec<(bool, Term)> = conditions.map(|c| (c.negated, c.term)).collect();
        assert_eq!(found, expected, "{q}");
    }

    fn text(text: &str) -> Term {
        Term::Text(text.into())
    }

    fn one_of(key: Key, values: &[&str]) -> Term {
        Term::OneOf(key, values.iter().map(|value| (*value).into()).collect())
    }

    #[test]
    fn parses_terms_and_keys() {
        check("", &[]);
        check("  My  disk ", &[(false, text("my")), (false, text("disk"))]);
        check("\"my disk\"", &[(false, text("my disk"))]);
        check("-slow", &[(true, text("slow"))]);
        check("-", &[(false, text("-"))]);
        check("/dev/disk:1", &[(false, text("/dev/disk:1"))]);
        check("rw:", &[(false, text("rw:"))]);
        check("rw:randread", &[(false, one_of(Key::Rw, &["randread"]))]);
        let random = [
            "randread",
            "randwrite",
            "randtrim",
            "randrw",
            "randtrimwrite",
        ];
        check("rw:rand", &[(false, one_of(Key::Rw, &random))]);
        check(
            "rw:read,write",
            &[(false, one_of(Key::Rw, &["read", "write"]))],
        );
        check("RW:Read", &[(false, one_of(Key::Rw, &["read"]))]);
        check(
            "verdict:cache",
            &[(false, one_of(Key::Verdict, &["page_cache", "lower_cache"]))],
        );
        check("-status:fail", &[(true, one_of(Key::Status, &["failed"]))]);
        check("status:bogus", &[(false, one_of(Key::Status, &[]))]);
        check(
            "mode:raw device:vda,vdb",
            &[
                (false, one_of(Key::Mode, &["raw"])),
                (false, one_of(Key::Device, &["vda", "vdb"])),
            ],
        );
        check(
            "#12,13 bs:4K iodepth:32",
            &[
                (false, one_of(Key::Number, &["12", "13"])),
                (false, one_of(Key::Bs, &["4k"])),
                (false, one_of(Key::Iodepth, &["32"])),
            ],
        );
        check("#12a", &[(false, text("#12a"))]);
        check("target:H1", &[(false, Term::Target("h1".into()))]);
        check("http://h/", &[(false, text("http://h/"))]);
        check("\"colour:red\"", &[(false, text("colour:red"))]);
        check("-\"colour:red\"", &[(true, text("colour:red"))]);
        check(
            "tag:Nightly name:\"My Run\"",
            &[
                (false, Term::Tag(vec!["Nightly".into()])),
                (false, Term::Name("my run".into())),
            ],
        );
    }

    #[test]
    fn unknown_keys_are_reported() {
        let query = RunQuery {
            q: Some("rw:read blocksize:4k -colour:red".into()),
            ..RunQuery::default()
        };
        let problems = parse(&query).unwrap_err();
        let details: Vec<&str> = problems.iter().map(|problem| &*problem.detail).collect();
        assert_eq!(
            details,
            [
                "Unknown filter key `blocksize`.",
                "Unknown filter key `colour`."
            ]
        );
        for key in KEYS {
            assert!(keyed_term(key, "1").is_some(), "{key}");
        }
    }

    #[test]
    fn verdict_values_match_whole_words() {
        let Term::OneOf(Key::Verdict, mut classes) = keyed_term("verdict", "device").unwrap()
        else {
            panic!("not a verdict term");
        };
        classes.sort();
        assert_eq!(classes, ["device", "no_device"]);
    }

    #[test]
    fn all_invalid_fields_are_reported() {
        let query = RunQuery {
            status: Some("done,dead".into()),
            limit: Some(0),
            cursor: Some("x".into()),
            ..RunQuery::default()
        };
        let problems = parse(&query).unwrap_err();
        let fields: Vec<&str> = problems
            .iter()
            .filter_map(|problem| problem.field.as_deref())
            .collect();
        assert_eq!(fields, ["status", "limit", "cursor"]);
        let long = RunQuery {
            q: Some("a ".repeat(33)),
            ..RunQuery::default()
        };
        assert_eq!(parse(&long).unwrap_err()[0].code, "too_long");
    }

    #[test]
    fn filters_stay_below_sqlite_limits() {
        let check = |query: RunQuery, field: &str| {
            let problems = parse(&query).unwrap_err();
            let found = (problems[0].code.as_str(), problems[0].field.as_deref());
            assert_eq!(found, ("too_long", Some(field)));
        };
        let query = |q: String| RunQuery {
            q: Some(q),
            ..RunQuery::default()
        };
        let values = |count: usize| format!("tag:{}", vec!["a"; count].join(","));
        assert!(parse(&query(values(MAX_VALUES))).is_ok());
        check(query(values(MAX_VALUES + 1)), "q");
        check(query(format!("{} b", values(MAX_VALUES))), "q");
        assert!(parse(&query("[".repeat(MAX_LENGTH))).is_ok());
        check(query("[".repeat(MAX_LENGTH + 1)), "q");
        let tag = RunQuery {
            tag: Some("[".repeat(MAX_LENGTH + 1)),
            ..RunQuery::default()
        };
        check(tag, "tag");
    }

    #[test]
    fn variant_names_match_the_serialized_values() {
        fn check<T: serde::Serialize>(names: &[&str], value: T) {
            let value = serde_json::to_value(value).unwrap();
            assert!(names.contains(&value.as_str().unwrap()), "{value}");
        }
        check(RunStatus::VARIANTS, RunStatus::Queued);
        check(RwKind::VARIANTS, RwKind::Randtrim);
        check(Mode::VARIANTS, Mode::Buffered);
        check(VerdictClass::VARIANTS, VerdictClass::NoDevice);
    }
}
