//! Fuzzes URL queries, and values of the headers `Host` and `Origin`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| leadline_server::api::fuzzing::query(text));
