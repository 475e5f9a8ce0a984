//! Fuzzes `POST /runs` bodies: one job or a list of jobs.
#![no_main]

use leadline_fuzz::mutate_json;
use leadline_protocol::{job::run_spec::parse_run, problem::Problem};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::{Value, json};

/// Upper bound for the number of listed problems.
const MAX_PROBLEMS: usize = 64 * 100 + 100;

fuzz_target!(|text: &str| {
    let Ok(body) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let result = parse_run(&body);
    assert_eq!(result, parse_run(&body));
    match result {
        Ok(run) => {
            assert!((1..=64).contains(&run.jobs.len()));
            assert!((10..=10_000).contains(&run.sample_ms));
            if body.get("jobs").is_none() {
                assert_eq!(parse_run(&json!({"jobs": [body]})), Ok(run));
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty() && problems.len() <= MAX_PROBLEMS);
            problems.iter().for_each(check);
        }
    }
});

fn check(problem: &Problem) {
    assert_ne!(problem.field.as_deref(), Some(""));
    assert!(!problem.detail.is_empty() && !problem.remedy.is_empty());
    let json = serde_json::to_string(problem).expect("a problem is JSON");
    assert_eq!(
        serde_json::from_str::<Problem>(&json).ok().as_ref(),
        Some(problem)
    );
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
