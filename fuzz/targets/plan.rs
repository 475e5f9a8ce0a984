//! Fuzzes run plans on a host with files and a device.
#![no_main]

use leadline_fuzz::{host::TableHost, mutate_json};
use leadline_protocol::{job::run_spec::parse_run, plan::Plan};
use leadline_runner::plan::resolve;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::Value;

fuzz_target!(|text: &str| {
    let Ok(body) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let Ok(run) = parse_run(&body) else {
        return;
    };
    let plan = resolve(&run, &TableHost);
    assert!(plan.jobs.is_empty() || plan.jobs.len() == run.jobs.len());
    assert!(!plan.jobs.is_empty() || !plan.problems.is_empty());
    for target in plan.jobs.iter().flat_map(|job| &job.targets) {
        assert!(target.offset.checked_add(target.size).is_some());
    }
    let json = serde_json::to_string(&plan).expect("a plan is JSON");
    let parsed: Plan = serde_json::from_str(&json).expect("a plan can be read");
    assert_eq!(
        serde_json::to_string(&parsed).expect("a plan is JSON"),
        json
    );
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
