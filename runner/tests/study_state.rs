//! A study on the command line that was interrupted continues.

mod scratch;

use scratch::document::{json_of, run, start};
use serde_json::json;
use std::time::{Duration, Instant};

/// A study that is killed continues after its last complete run.
#[test]
fn killed_study_continues_from_its_state_file() {
    let directory = tempfile::tempdir().unwrap();
    let step = |name: &str| {
        json!({"name": name, "jobs": [{"filename": "none", "ioengine": "null", "size": "1m",
        "rw": "randread", "direct": 0, "runtime": 1, "time_based": 1}]})
    };
    let study = json!({"repeats": 2, "order_seed": 1, "idle_wait_seconds": 0, "steps": [step("a"), step("b")]});
    let state = directory.path().join("state.ndjson");
    let args = ["--json", "--state", state.to_str().unwrap()];
    let mut child = start(&study, directory.path(), &args);
    let ended = || {
        let text = std::fs::read_to_string(&state).unwrap_or_default();
        text.lines()
            .filter(|line| line.starts_with("{\"ended\""))
            .count()
    };
    let began = Instant::now();
    while ended() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = std::fs::read_to_string(&state).unwrap();
    // The last line was cut off.
    std::fs::write(&state, format!("{before}{{\"ended\":")).unwrap();
    let done = json_of(&run(&study, directory.path(), &args));
    let steps = done["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert!(
        steps
            .iter()
            .all(|step| step["exit_code"] == 0 && step["report"].is_object())
    );
    // The first two runs are those of the killed process.
    let after = std::fs::read_to_string(&state).unwrap();
    assert!(after.starts_with(&before));
    assert_eq!(ended(), 4);
    // A complete study only prints its results.
    let again = json_of(&run(&study, directory.path(), &args));
    assert_eq!(again["steps"], done["steps"]);
    let other = json!({"steps": [step("c")]});
    let rejected = run(&other, directory.path(), &args);
    assert_eq!(rejected.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("another study"));
}
