//! Fuzzes compressed samples, rollups and series.
#![no_main]

use leadline_fuzz::mutate_json;
use leadline_server::api::fuzzing::samples;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| samples(serde_json::from_slice(data).unwrap_or_default(), data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
