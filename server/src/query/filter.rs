//! Parses run list queries: free text and `key:value` terms, as entered in the search field. Pure.
//!
//! `rw:rand tag:nightly -status:failed "my disk"` matches runs with a random access pattern that
//! are tagged `nightly`, did not fail, and contain `my disk` in their name, target, tags or notes.
//! Commas separate alternative values, and `#12` is the run with that number. A term in quotes is
//! always text.

#[cfg(test)]
mod tests;

use crate::store::filter::{Condition, Cursor, Filter, Key, Term};
use leadline_protocol::{
    job::rw::RwKind, limits::MAX_PAGE, plan::job::Mode, problem::Problem, query::RunQuery,
    report::foreign::Source, status::RunStatus, verdict::VerdictClass,
};
use strum::VariantNames;

/// Limited because each term adds an SQL condition that is evaluated for every run.
const MAX_TERMS: usize = 32;
/// Maximum number of values across all terms. SQLite limits the depth of an expression to 1,000.
const MAX_VALUES: usize = 256;
/// Maximum length of a parameter, in bytes. SQLite limits patterns to 50,000 bytes.
const MAX_LENGTH: usize = 8 * 1024;
const DEFAULT_LIMIT: u32 = 50;

/// # Errors
/// Returns one problem per invalid field.
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
    if !(1..=MAX_PAGE).contains(&limit) {
        let detail = format!("limit must be between 1 and {MAX_PAGE}, not {limit}.");
        let remedy = format!("Use a number from 1 to {MAX_PAGE}.");
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
    /// Whether the term starts with a quote. Such a term has no key.
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

/// Keys to suggest in error messages.
const KEYS: [&str; 15] = [
    "rw", "bs", "iodepth", "numjobs", "status", "verdict", "mode", "target", "device", "host",
    "source", "tag", "name", "study", "step",
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
        "source" => Term::OneOf(Key::Source, by_prefix(Source::VARIANTS)),
        "study" => Term::OneOf(Key::Study, verbatim()),
        "step" => Term::OneOf(Key::Step, verbatim()),
        "job" => Term::OneOf(Key::Job, verbatim()),
        "tag" => Term::Tag(verbatim()),
        "name" => Term::Name(value.to_lowercase()),
        _ => return None,
    })
}
