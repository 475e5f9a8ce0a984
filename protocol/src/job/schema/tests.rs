//! Compares the schema with the parser.

use super::*;
use crate::{
    job::value_schema::{NumberSchema, pattern},
    text::plain_pattern,
};
use proptest::{
    strategy::{Strategy, ValueTree},
    string::string_regex,
    test_runner::TestRunner,
};
use serde_json::{Value, json};

/// Number of strings generated per option.
const TEXTS: usize = 200;
/// Options whose parts must be consistent with each other, and the parser's error if they are not.
const INCONSISTENT_PARTS: [(&str, &str); 6] = [
    ("cmdprio_bssplit", "must not exceed 100 %"),
    ("bssplit", "add up to"),
    ("random_distribution", "add up to 100 %"),
    ("bsrange", "is not a range"),
    ("startdelay", "is not a range"),
    ("cpus_allowed", "is not a CPU list"),
];

fn schema_of(name: &str) -> ValueSchema {
    let mut values = Job::value_schema(name).unwrap();
    if let TextSchema::Directions { may_omit, .. } = &mut values.text {
        *may_omit = omitted_direction(name).is_some();
    }
    values
}

/// Problems of a job with this option.
fn problems(name: &str, value: Value) -> Vec<String> {
    let mut problems = Vec::new();
    let options = serde_json::Map::from_iter([(name.to_owned(), value)]);
    Job::parse(&options, "", &mut problems);
    let details = problems.into_iter().map(|problem| problem.detail);
    details.collect()
}

#[test]
fn strings_that_match_the_schema_are_valid() {
    let mut runner = TestRunner::deterministic();
    for option in OPTIONS {
        let expression = match schema_of(option.name).text {
            TextSchema::Words(words) => {
                for word in words {
                    assert_eq!(
                        problems(option.name, json!(word)),
                        [""; 0],
                        "{}",
                        option.name
                    );
                }
                continue;
            }
            TextSchema::Pattern(expression) => expression,
            TextSchema::Directions { value, may_omit } => pattern::directions(&value, may_omit),
            TextSchema::Name(_) => plain_pattern("").trim_matches(['^', '$']).to_owned(),
        };
        let texts = string_regex(&expression).unwrap();
        for _ in 0..TEXTS {
            let text = texts.new_tree(&mut runner).unwrap().current();
            let is_inconsistent = |problem: &String| {
                let known = INCONSISTENT_PARTS.iter();
                known
                    .into_iter()
                    .any(|(name, part)| *name == option.name && problem.contains(part))
            };
            let mut problems = problems(option.name, json!(text));
            problems.retain(|problem| !is_inconsistent(problem));
            assert_eq!(problems, [""; 0], "{}={text:?}", option.name);
        }
    }
}

#[test]
fn numbers_are_valid_within_their_bounds() {
    for option in OPTIONS {
        let values = schema_of(option.name);
        let mut integers = Vec::new();
        for numbers in &values.numbers {
            match numbers {
                NumberSchema::Integers(range) => integers.push(range.clone()),
                NumberSchema::Percent { is_positive } => {
                    let zero = problems(option.name, json!(0)).is_empty();
                    assert_eq!(zero, !is_positive, "{}", option.name);
                    assert_eq!(problems(option.name, json!(99.9)), [""; 0]);
                    assert_eq!(problems(option.name, json!(100)), [""; 0]);
                    assert_eq!(problems(option.name, json!(100.1)).len(), 1);
                }
                NumberSchema::Any => {
                    for number in [json!(0), json!(-1.5), json!(1e300)] {
                        assert_eq!(problems(option.name, number), [""; 0], "{}", option.name);
                    }
                }
            }
        }
        for range in &integers {
            for bound in [range.start(), range.end()] {
                let number = match i64::try_from(*bound) {
                    Ok(number) => json!(number),
                    Err(_) => json!(u64::try_from(*bound).unwrap()),
                };
                assert_eq!(
                    problems(option.name, number),
                    [""; 0],
                    "{}={bound}",
                    option.name
                );
            }
        }
        if values.numbers.is_empty() {
            assert_eq!(problems(option.name, json!(1)).len(), 1, "{}", option.name);
            assert_eq!(problems(option.name, json!(0)).len(), 1, "{}", option.name);
        }
        if !values.numbers.contains(&NumberSchema::Any) {
            assert_eq!(
                problems(option.name, json!(1.5e300)).len(),
                1,
                "{}",
                option.name
            );
        }
    }
}

#[test]
fn integers_may_have_a_decimal_point() {
    assert_eq!(problems("bs", json!(4096.0)), [""; 0]);
    assert_eq!(problems("iodepth", json!(1e3)), [""; 0]);
    assert_eq!(problems("iodepth", json!(-0.0)), [""; 0]);
    assert_eq!(problems("iodepth", json!(1.5)).len(), 1);
}

#[test]
fn only_flags_accept_booleans() {
    for option in OPTIONS {
        for flag in [true, false] {
            let is_valid = problems(option.name, json!(flag)).is_empty();
            let accepts_booleans = schema_of(option.name).accepts_booleans();
            assert_eq!(is_valid, accepts_booleans, "{}", option.name);
        }
    }
    let flags = [
        "direct",
        "sync",
        "fadvise_hint",
        "continue_on_error",
        "fallocate",
    ];
    assert!(flags.iter().all(|name| schema_of(name).accepts_booleans()));
    assert!(
        !["iodepth", "bs", "name", "rw", "verify"]
            .iter()
            .any(|name| schema_of(name).accepts_booleans())
    );
}

#[test]
fn schema_contains_all_names() {
    let schema = serde_json::to_value(Job::schema()).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    let aliases: usize = OPTIONS.iter().map(|option| option.aliases.len()).sum();
    assert_eq!(properties.len(), OPTIONS.len() + aliases);
    assert_eq!(properties["ba"]["description"], "Alias of `blockalign`.");
    assert_eq!(
        properties["sync"]["oneOf"],
        json!([
            {"type": "string", "enum": ["0", "none", "1", "sync", "dsync"]},
            {"type": "integer", "minimum": 0, "maximum": 1},
            {"type": "boolean"},
        ])
    );
    let nice = &properties["nice"]["oneOf"];
    assert_eq!(
        nice[1],
        json!({"type": "integer", "minimum": -20, "maximum": 19})
    );
    assert_eq!(properties["name"]["oneOf"][0]["maxLength"], json!(200));
}
