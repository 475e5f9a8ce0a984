//! Runs that end while writing.

use super::{BLOCK, LENGTH, job, outcome::Outcome, scratch};
use serde_json::json;
use std::{process::Command, thread, time::Duration};

#[test]
fn killed_run_leaves_only_intact_and_unwritten_blocks() {
    for (direct, depth) in [(1, 32), (0, 1)] {
        let directory = scratch::directory();
        let file = directory.path().join("data");
        scratch::image(&file, LENGTH);
        let changes = json!({"direct": direct, "iodepth": depth, "rate_iops": 1000});
        let mut child = scratch::program::start(&job(&file, changes), &["--json"]);
        thread::sleep(Duration::from_millis(600));
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
    let child = scratch::program::start(&job(&file, slow), &["--json"]);
    thread::sleep(Duration::from_millis(600));
    let pid = child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let verify = &result["report"]["jobs"][0]["verify"];
    assert_eq!(output.status.code(), Some(143));
    assert!(verify["not_run"].is_string(), "{verify}");
    assert_eq!(verify["checked_blocks"], 0);
}
