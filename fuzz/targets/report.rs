//! Fuzzes stored results: comparisons and their exports, and text reports.
#![no_main]

use leadline_fuzz::mutate_json;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::Value;

fuzz_target!(|text: &[u8]| {
    if let Ok((rule, documents)) = serde_json::from_slice::<(String, Vec<Value>)>(text) {
        leadline_runner::fuzzing::compare_results(documents, &rule);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
