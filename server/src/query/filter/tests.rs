//! Run list filters.

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
    let Term::OneOf(Key::Verdict, mut classes) = keyed_term("verdict", "device").unwrap() else {
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
