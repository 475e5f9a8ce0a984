//! Jobs whose plan and run once differed.

use crate::{
    checks,
    files::{Case, Content, Filesystem, Scene},
    observed::Observed,
};
use serde_json::{Value, json};

/// Initial state and length of the file, the jobs, and the problem code that the plan must report,
/// if any.
fn cases() -> Vec<(Content, u64, Value, Option<&'static str>)> {
    use Content::{Absent, Foreign, LoopDevice, Owned};
    let loop_read = json!({"rw": "randread", "direct": 0, "size": "64k", "loop_device": 1});
    let loop_write = json!({"rw": "write", "direct": 0, "size": "256k", "loop_device": 1});
    let write = json!({"rw": "write", "direct": 0, "size": "64k"});
    let bytes = json!({"rw": "read", "direct": 0, "bs": 1000, "size": 1000, "loop_device": 1});
    let no_io = json!({"rw": "write", "direct": 0, "ioengine": "null", "size": "64k"});
    let read_flush = json!({"rw": "read", "direct": 0, "size": "64k", "end_fsync": 1});
    let trim_flush = json!({"rw": "trim", "direct": 1, "size": "64k", "end_fsync": 1});
    vec![
        // The runner does not open a loop device's backing file for writing.
        (
            Absent,
            0,
            json!([loop_read, write]),
            Some("conflicting_options"),
        ),
        (
            Owned,
            1 << 20,
            json!([write, loop_write]),
            Some("conflicting_options"),
        ),
        (
            Owned,
            1 << 20,
            json!([loop_read, {"rw": "read", "direct": 0}]),
            None,
        ),
        // The loop device's length is rounded to a multiple of 512 bytes, and the device is not the
        // confirmed file.
        (Owned, 643_081, json!([loop_read]), None),
        (Foreign, 100_000, json!([loop_write]), None),
        (Foreign, 1 << 20, json!([loop_write]), None),
        (Absent, 0, json!([bytes]), Some("loop_too_short")),
        // Phases.
        (Absent, 0, json!([no_io]), None),
        (Owned, 1 << 20, json!([read_flush]), None),
        (LoopDevice, 1 << 20, json!([trim_flush]), None),
    ]
}

#[test]
fn runs_of_known_cases_match_their_plans() {
    let Some(scene) = Scene::create() else { return };
    let mut seed = 0;
    for filesystem in [Filesystem::Ext4, Filesystem::Tmpfs] {
        for (content, length, jobs, code) in cases() {
            let case = Case {
                filesystem,
                content,
                length,
                confirms: true,
                jobs: jobs.as_array().unwrap().clone(),
            };
            let observed = Observed::new(&case, &scene, seed);
            let problems = &observed.plan.problems;
            let found = problems.first().map(|problem| problem.code.as_str());
            assert_eq!(found, code, "{case}\n{problems:?}");
            let violations = checks::violations(&case, &observed);
            assert!(violations.is_empty(), "{case}\n{}", violations.join("\n"));
            seed += 1;
        }
    }
}
