//! Runs that end while they are writing.

use super::{
    BLOCK, LENGTH, job,
    outcome::Outcome,
    scratch::{
        self,
        program::{last_event, measuring},
    },
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command},
};

/// Starts a run, and returns once it has written some blocks.
fn start_writing(job: &Value) -> (Child, BufReader<ChildStdout>) {
    let (child, mut out) = measuring(job);
    loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "nothing was written");
        let event: Value = serde_json::from_str(&line).unwrap();
        if event["write"]["ios"].as_u64() > Some(0) {
            return (child, out);
        }
    }
}

#[test]
fn killed_run_leaves_only_intact_and_unwritten_blocks() {
    for (direct, depth) in [(1, 32), (0, 1)] {
        let directory = scratch::directory();
        let file = directory.path().join("data");
        scratch::image(&file, LENGTH);
        let changes = json!({"direct": direct, "iodepth": depth, "rate_iops": 1000});
        let (mut child, _out) = start_writing(&job(&file, changes));
        child.kill().unwrap();
        child.wait().unwrap();
        let only = json!({"verify_only": 1, "rw": "read", "direct": direct});
        let outcome = Outcome::of(&job(&file, only), &[]);
        assert_eq!(outcome.exit, Some(1), "{}", outcome.summary());
        let bad = outcome.number("bad_blocks");
        assert!((1..LENGTH / BLOCK).contains(&bad), "{}", outcome.summary());
        for (offset, (kind, _)) in outcome.failures() {
            assert_eq!(kind, "unwritten", "{offset}: {}", outcome.summary());
        }
    }
}

#[test]
fn stopped_run_is_not_verified() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, LENGTH);
    let slow = json!({"rate_iops": 100, "iodepth": 4});
    let (mut child, out) = start_writing(&job(&file, slow));
    let pid = child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    let last = last_event(out);
    let verify = &last["report"]["jobs"][0]["verify"];
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(verify["not_run"].is_string(), "{verify}");
    assert_eq!(verify["checked_blocks"], 0);
}
