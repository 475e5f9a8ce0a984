//! Per-I/O priorities (`cmdprio_*` options).

use crate::plan::tests::{plan, resolved_job};
use serde_json::{Value, json};

fn job(changes: &Value) -> Value {
    let mut job = json!({"filename": "full", "direct": 1, "rw": "randrw"});
    for (name, value) in changes.as_object().unwrap() {
        job[name] = value.clone();
    }
    job
}

fn resolved(changes: &Value) -> Value {
    serde_json::to_value(resolved_job(job(changes)).command_priorities).unwrap()
}

fn share(bytes: Option<u64>, percent: u8, [class, level, hint]: [u16; 3]) -> Value {
    json!({"bytes": bytes, "percent": percent, "class": class, "level": level, "hint": hint})
}

#[test]
fn defaults_match_fio() {
    assert_eq!(resolved(&json!({})), Value::Null);
    assert_eq!(
        resolved(&json!({"cmdprio_percentage": 0, "cmdprio": 3})),
        Value::Null
    );
    // The class defaults to realtime (engines/cmdprio.c, `fio_cmdprio_parse_and_gen`).
    let half = share(None, 50, [1, 0, 0]);
    assert_eq!(
        resolved(&json!({"cmdprio_percentage": 50})),
        json!({"read": [half], "write": [half]})
    );
    assert_eq!(
        resolved(
            &json!({"cmdprio_percentage": "50,0", "cmdprio_class": 3, "cmdprio": "2,4", "cmdprio_hint": 5})
        ),
        json!({"read": [share(None, 50, [3, 2, 5])], "write": []})
    );
    assert_eq!(
        resolved(
            &json!({"cmdprio_bssplit": "64k/25/1/1:64k/75/3/2:1m/0,1m/10", "cmdprio_class": 2})
        ),
        json!({
            "read": [share(Some(65_536), 25, [1, 1, 0]), share(Some(65_536), 75, [3, 2, 0])],
            "write": [share(Some(1 << 20), 10, [2, 0, 0])]
        })
    );
    // fio ignores priorities for directions that issue no I/O.
    assert_eq!(
        resolved(&json!({"rw": "randread", "cmdprio_percentage": "0,50"})),
        Value::Null
    );
}

#[test]
fn jobs_that_fio_rejects_are_rejected() {
    for (changes, field) in [
        (
            json!({"cmdprio_percentage": 10, "cmdprio_bssplit": "4k/10"}),
            "cmdprio_bssplit",
        ),
        (
            json!({"cmdprio_percentage": 10, "ioengine": "psync"}),
            "cmdprio_percentage",
        ),
        (
            json!({"cmdprio_bssplit": "4k/10", "ioengine": "mmap", "direct": 0}),
            "cmdprio_bssplit",
        ),
        (
            json!({"cmdprio_percentage": 1, "cmdprio_class": 4}),
            "cmdprio_class",
        ),
        (json!({"cmdprio_percentage": 1, "cmdprio": 8}), "cmdprio"),
    ] {
        let problems = plan(job(&changes)).problems;
        let fields: Vec<_> = problems.iter().map(|problem| &problem.field).collect();
        assert_eq!(
            fields,
            [&Some(format!("jobs[0].{field}"))],
            "{changes}: {problems:?}"
        );
    }
    let findings = plan(job(&json!({"rw": "randread", "cmdprio_class": 2}))).findings;
    let codes: Vec<_> = findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(codes, ["option_unused"]);
}
