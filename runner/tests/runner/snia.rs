//! A small IOPS test as defined by the SNIA specification, on a loop device, from the purge to the
//! last round.

use crate::scratch::{
    Disk,
    document::{files, json_of, run},
};
use serde_json::{Value, json};

/// `report.{direction}.bytes` of a step.
fn bytes(step: &Value, direction: &str) -> u64 {
    step["report"][direction]["bytes"].as_u64().unwrap()
}

#[test]
fn iops_test_completes() {
    let Some(disk) = Disk::ext4() else { return };
    let study = json!({
        "snia": {"test": "iops", "class": "enterprise", "purge": "discard", "cell_seconds": 1,
            "mixes": [100, 0], "blocks": ["64k", "4k"], "max_rounds": 6},
        "steps": [{"jobs": [{"filename": "image-$study", "loop_device": 1, "size": "16m", "direct": 1,
            "ioengine": "psync", "unlink": 1}]}]});
    let output = run(&study, &disk.at, &["--json"]);
    let done = json_of(&output);
    let results = &done["results"];
    let rounds = results["rounds"].as_array().unwrap();
    assert!((5..=6).contains(&rounds.len()), "{results}");
    for round in rounds {
        let values = round["values"].as_array().unwrap();
        assert_eq!(values.len(), 4);
        assert!(
            values
                .iter()
                .all(|value| value["iops"].as_f64() > Some(0.0)),
            "{round}"
        );
        assert!(round["interruption"].is_null(), "{round}");
    }
    let state = results["state"].as_str().unwrap();
    let variable = &results["tracking"][0];
    assert_eq!(variable["name"], "RW0 4k IOPS");
    let is_steady = variable["window"]["is_steady"].as_bool().unwrap();
    assert_eq!(state, if is_steady { "steady" } else { "not_reached" });
    assert_eq!(results["badge"].is_string(), is_steady);
    // The steps are the discard, two passes of preconditioning, and two runs per round.
    let steps = done["steps"].as_array().unwrap();
    assert_eq!(bytes(&steps[0], "trim"), 16 << 20);
    assert_eq!(bytes(&steps[1], "write"), 32 << 20);
    let complete = steps.iter().filter(|step| step["exit_code"] == 0).count();
    assert_eq!(complete, 2 + 2 * rounds.len());
    let codes: Vec<&str> = results["deviations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|deviation| deviation["code"].as_str().unwrap())
        .collect();
    for code in [
        "purge_substitute",
        "loop",
        "cell_seconds",
        "max_rounds",
        "matrix",
        "tracking",
    ] {
        assert!(codes.contains(&code), "{codes:?}");
    }
    assert!(!codes.contains(&"preconditioning"), "{codes:?}");
    assert_eq!(files(&disk.at), Vec::<String>::new(), "the file is removed");
}
