//! Fuzzes `POST /runs/import` bodies: fio results, which may be surrounded by other output.
#![no_main]

use leadline_fuzz::mutate_json;
use leadline_server::api::fuzzing::foreign_result;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|text: &[u8]| foreign_result(text));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
