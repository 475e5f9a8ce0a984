//! A run whose reads come from the device first and from memory later.

use crate::{
    scratch::program::report_in_root,
    state::{BYTES, State, prepare},
    test_targets::{TestTarget, TestTargets},
};
use serde_json::json;

/// Reads per second, chosen so that one pass over the file takes two seconds.
const RATE: u64 = BYTES / 4096 / 2;

const MAX_ATTEMPTS: usize = 4;

#[test]
fn verdict_contains_the_transition_time() {
    let Some(test_targets) = TestTargets::create() else {
        return;
    };
    let target = test_targets.target(TestTarget::Ext4);
    let job = json!({"name": "transition", "filename": target.path, "size": "16m", "bs": "4k", "rw": "randread", "direct": 0, "invalidate": 0,
        "rate_iops": RATE, "runtime": "4s", "time_based": 1});
    // Retry if the host evicted pages, so that some blocks were fetched twice.
    let result = (0..MAX_ATTEMPTS)
        .map(|_| {
            prepare(State::Cold, &target);
            report_in_root(&job, test_targets.root())
        })
        .find(|result| {
            let fetched = result["report"]["storage"]["read_bytes"].as_u64().unwrap();
            fetched < BYTES + BYTES / 100
        })
        .expect("an attempt without evictions");
    let verdict = &result["verdict"]["read"];
    let phases = result["report"]["phases"].as_array().unwrap();
    let begin_ms = phases
        .iter()
        .find(|phase| phase["phase"] == "measure")
        .unwrap()["start_ms"]
        .as_f64()
        .unwrap();
    let transition_ms = verdict["transition_ms"]
        .as_f64()
        .unwrap_or_else(|| panic!("{verdict}"))
        - begin_ms;
    // The transition occurs after two seconds on an idle host, and later on a busy one.
    let end_ms = result["report"]["duration_ms"].as_f64().unwrap();
    assert!(
        (1_000.0..end_ms).contains(&transition_ms),
        "{transition_ms} ms: {}",
        verdict["sentence"]
    );
    assert_eq!(verdict["class"], "mixed", "{verdict}");
    let share = verdict["shares"]["device"].as_f64().unwrap();
    // Half of the reads on an idle host. A busy host completes fewer reads in the four seconds, so
    // the share is larger.
    let issued = result["report"]["read"]["bytes"].as_f64().unwrap();
    let expected = BYTES as f64 / issued;
    assert!(
        expected < 0.75 && (share - expected).abs() < 0.02,
        "{share}: the device serves each block once, which is {expected} of the reads"
    );
    assert!(
        verdict["sentence"]
            .as_str()
            .unwrap()
            .contains("Served from memory after"),
        "{}",
        verdict["sentence"]
    );
}
