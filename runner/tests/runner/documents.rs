//! Checks that documents match the code: the event lines in docs/protocol.md parse,
//! docs/measurement.md defines every number in them, and jobs in documents are valid.

use leadline_protocol::{event::Event, job::run_spec::parse_run};
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

fn document(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// Returns the JSON code blocks.
fn blocks(document: &str) -> Vec<&str> {
    document
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

fn example_events() -> Vec<Value> {
    let protocol = document("docs/protocol.md");
    blocks(&protocol)
        .into_iter()
        .flat_map(str::lines)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn collect_names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            found.insert(name.clone());
            collect_names(value, found);
        }),
        Value::Array(values) => values.iter().for_each(|value| collect_names(value, found)),
        _ => {}
    }
}

#[test]
fn example_lines_are_complete_events() {
    for line in example_events() {
        let event: Event =
            serde_json::from_value(line.clone()).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(
            serde_json::to_value(&event).unwrap(),
            line,
            "docs/protocol.md: this line differs from the current event"
        );
    }
}

#[test]
fn every_event_type_has_an_example() {
    let types: BTreeSet<String> = example_events()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    let schema = serde_json::to_string(
        &<leadline_protocol::event::EventBody as utoipa::PartialSchema>::schema(),
    )
    .unwrap();
    for kind in ["status", "accepted", "phase", "sample", "report", "failed"] {
        assert!(
            types.contains(kind),
            "docs/protocol.md has no example of `{kind}`"
        );
    }
    let declared = schema.matches(r#""enum":["#).count();
    assert_eq!(
        declared,
        types.len(),
        "docs/protocol.md needs one example per event type"
    );
}

#[test]
fn every_number_is_defined() {
    /// Fields that are not measured numbers: names, enums, and objects.
    const NOT_NUMBERS: &[&str] = &[
        "seq",
        "type",
        "phase",
        "phases",
        "start_ms",
        "read",
        "write",
        "trim",
        "sync",
        "jobs",
        "name",
        "engine",
        "decisions",
        "used",
        "reason",
        "first",
        "absent",
        "report",
        "verdict",
        "findings",
        "class",
        "sentence",
        "code",
        "severity",
        "remedy",
        "host",
        "start",
        "end",
        "cpu",
        "kind",
        "path",
        "state",
    ];
    let measurement = document("docs/measurement.md");
    let mut found = BTreeSet::new();
    example_events()
        .iter()
        .filter(|event| event["type"] == "sample")
        .for_each(|sample| collect_names(sample, &mut found));
    for report in example_events()
        .iter()
        .filter(|event| event["type"] == "report")
    {
        // Skip the evidence in verdicts and findings, which repeats these numbers.
        collect_names(&report["report"], &mut found);
    }
    found.retain(|name| !NOT_NUMBERS.contains(&name.as_str()) && name.parse::<f64>().is_err());
    let undefined: Vec<&String> = found
        .iter()
        .filter(|name| !measurement.contains(name.as_str()))
        .collect();
    assert!(
        undefined.is_empty(),
        "docs/measurement.md does not define: {undefined:?}"
    );
}

#[test]
fn jobs_in_documents_are_valid() {
    let mut shown = 0;
    for path in ["README.md", "examples/README.md", "CONTRIBUTING.md"] {
        for block in blocks(&document(path)) {
            let value: Value = serde_json::from_str(block)
                .unwrap_or_else(|error| panic!("{path}: {error}: {block}"));
            parse_run(&value).unwrap_or_else(|problems| panic!("{path}: {problems:?}"));
            shown += 1;
        }
    }
    assert!(shown > 0, "README.md contains no job");
}
