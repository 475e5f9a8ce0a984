//! Fuzzes study files and `POST /studies` bodies: definitions, their parsed steps, and sizes scaled
//! to a host.
#![no_main]

use leadline_fuzz::mutate_json;
use leadline_protocol::{
    job::run_spec::parse_run,
    study::{
        definition::{MAX_SEED, StudyDefinition},
        parse::parse_study,
    },
};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::{Value, json};

/// Maximum number of runs: steps times repeats.
const MAX_RUNS: usize = 1024;

fuzz_target!(|text: &str| {
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return;
    };
    if let Ok(definition) = serde_json::from_value::<StudyDefinition>(document.clone()) {
        let stored = serde_json::to_string(&definition).expect("a definition is JSON");
        assert_eq!(
            serde_json::from_str::<StudyDefinition>(&stored).ok(),
            Some(definition)
        );
    }
    let study = match parse_study(document) {
        Ok(study) => study,
        Err(problems) => return assert!(!problems.is_empty()),
    };
    assert!(!study.steps.is_empty() && study.repeats > 0);
    assert!(study.steps.len() * study.repeats as usize <= MAX_RUNS);
    assert!(study.order_seed.is_none_or(|seed| seed <= MAX_SEED));
    for step in &study.steps {
        let run = json!({"jobs": step.jobs, "sample_ms": step.run.sample_ms});
        assert_eq!(parse_run(&run).as_ref(), Ok(&step.run));
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
