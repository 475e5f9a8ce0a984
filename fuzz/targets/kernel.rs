//! Fuzzes the parsers of text from procfs, sysfs and tracefs.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| leadline_runner::fuzzing::kernel_text(text));
