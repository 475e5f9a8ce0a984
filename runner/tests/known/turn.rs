//! A run that begins on the device and ends in memory says so, and since when.

use serde_json::json;

use crate::places::{Place, Places};
use crate::run;
use crate::state::{BYTES, State, bring_about};

/// Reads a second: one pass over the file takes two seconds.
const RATE: u64 = BYTES / 4096 / 2;

#[test]
fn the_verdict_says_when_memory_took_over() {
    let Some(places) = Places::make() else { return };
    let target = places.target(Place::Ext4);
    bring_about(State::Cold, &target);
    let job = json!({"name": "turns", "filename": target.path, "size": "16m", "bs": "4k", "rw": "randread", "direct": 0, "invalidate": 0,
        "rate_iops": RATE, "runtime": "4s", "time_based": 1});
    let told = run::report(&job, places.root());
    let verdict = &told["verdict"]["read"];
    let phases = told["report"]["phases"].as_array().unwrap();
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
    // Two seconds on a host that has time for it; one that was stopped for a while turns later.
    let end_ms = told["report"]["duration_ms"].as_f64().unwrap();
    assert!(
        (1_000.0..end_ms).contains(&transition_ms),
        "{transition_ms} ms: {}",
        verdict["sentence"]
    );
    assert_eq!(verdict["class"], "mixed", "{verdict}");
    let share = verdict["shares"]["device"].as_f64().unwrap();
    assert!(
        (share - 0.5).abs() < 0.02,
        "{share}: every block was read twice, once from the device"
    );
    assert!(
        verdict["sentence"]
            .as_str()
            .unwrap()
            .contains("Memory answered from"),
        "{}",
        verdict["sentence"]
    );
}
