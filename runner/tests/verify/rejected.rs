//! Jobs that cannot be verified: `plan` and `run` reject the same option.

use super::{LENGTH, job, outcome::Outcome, scratch};
use serde_json::{Value, json};
use std::{fs, path::Path};

fn cases() -> Vec<(&'static str, Value)> {
    let region = LENGTH / 2;
    vec![
        ("verify", json!({"verify": "meta"})),
        ("verify", json!({"verify": "null"})),
        ("verify", json!({"verify": "pattern"})),
        ("verify", json!({"verify": "header-pattern"})),
        (
            "verify_pattern",
            json!({"verify": "md5", "verify_pattern": "0xabcdef", "verify_interval": 1024}),
        ),
        (
            "verify_pattern",
            json!({"verify": "md5", "verify_pattern": "%o", "bsrange": "4k-8k"}),
        ),
        (
            "verify_pattern",
            json!({"verify": "none", "verify_pattern": "0xff"}),
        ),
        (
            "verify_offset",
            json!({"verify": "none", "verify_offset": 100}),
        ),
        (
            "verify_offset",
            json!({"verify": "md5", "verify_offset": 55}),
        ),
        (
            "verify_offset",
            json!({"verify": "md5", "verify_offset": 4041}),
        ),
        (
            "verify_offset",
            json!({"verify": "pattern", "verify_pattern": "1", "verify_offset": 100}),
        ),
        ("verify", json!({"rw": "randtrim"})),
        ("rw", json!({"rw": "trimwrite"})),
        ("verify", json!({"rw": "read"})),
        ("verify", json!({"zero_buffers": 1})),
        ("verify", json!({"scramble_buffers": 0})),
        ("verify", json!({"dedupe_percentage": 50})),
        ("verify", json!({"buffer_compress_percentage": 50})),
        ("verify", json!({"ioengine": "null"})),
        ("verify", json!({"ioengine": "io_uring_nop"})),
        ("verify", json!({"numjobs": 2})),
        (
            "verify",
            json!({"numjobs": 2, "size": region, "offset_increment": region / 2}),
        ),
        ("verify_interval", json!({"verify_interval": 3000})),
        ("verify_interval", json!({"verify_interval": 256})),
        ("verify_interval", json!({"verify_interval": 8192})),
        (
            "verify_interval",
            json!({"bsrange": "4k-16k", "verify_interval": 8192}),
        ),
        ("do_verify", json!({"verify": "none", "do_verify": 0})),
        ("verify_fatal", json!({"verify": "none", "verify_fatal": 1})),
        ("verify_only", json!({"verify": "none", "verify_only": 1})),
        (
            "verify_interval",
            json!({"verify": "none", "verify_interval": 4096}),
        ),
    ]
}

/// Returns a description of the error unless both plan and run reject the job with exit code 2 and
/// report this field.
fn problem(job: &Value, field: &str) -> Option<String> {
    let mut plan = scratch::program::runner();
    plan.args(["plan", "-", "--json"]);
    let child = scratch::program::spawn_unconfirmed(&mut plan, job);
    let planned = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&planned.stdout).into_owned()
        + &String::from_utf8_lossy(&planned.stderr);
    let run = Outcome::of(job, &[]);
    let run_text = format!("{}{}", run.result, run.stderr);
    let is_rejected = planned.status.code() == Some(2) && run.exit == Some(2);
    let is_named = text.contains(field) && run_text.contains(field);
    let text: String = text.chars().take(300).collect();
    (!is_rejected || !is_named).then(|| {
        format!(
            "plan {:?}, run {:?}: {text}",
            planned.status.code(),
            run.exit
        )
    })
}

fn check(file: &Path) -> Vec<String> {
    let cases = cases().into_iter();
    let failed = cases.filter_map(|(field, changes)| {
        let problem = problem(&job(file, changes.clone()), field)?;
        Some(format!("{changes}: {problem}"))
    });
    failed.collect()
}

#[test]
fn plan_and_run_reject_the_same_jobs() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, LENGTH);
    let before = super::offline::hash(&file);
    let failed = check(&file);
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert_eq!(
        before,
        super::offline::hash(&file),
        "a rejected job wrote data"
    );
}

#[test]
fn verify_only_rejects_a_missing_file() {
    let directory = scratch::directory();
    let file = directory.path().join("missing");
    for rw in ["read", "write"] {
        let only = job(&file, json!({"verify_only": 1, "rw": rw}));
        assert_eq!(problem(&only, "verify_only"), None);
        assert!(fs::metadata(&file).is_err(), "the file was created");
    }
}
