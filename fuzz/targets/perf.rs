//! Fuzzes the parser for perf's output, and flame graphs of the parsed stacks.
#![no_main]

use leadline_protocol::evidence::Profile;
use leadline_runner::fuzzing::perf_script;
use leadline_server::api::fuzzing::flame;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some(profile) = perf_script(data) {
        let stored = Profile {
            folded: String::from_utf8_lossy(data).into_owned(),
            ..profile.clone()
        };
        flame(&profile, &stored);
    }
});
