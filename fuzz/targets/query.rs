//! Fuzzes URL queries, and `Host` and `Origin` header values.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| leadline_server::api::fuzzing::query(text));
