//! Fuzzes the parsers for text from procfs, sysfs and tracefs.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| leadline_runner::fuzzing::kernel_text(text));
