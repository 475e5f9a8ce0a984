//! Fuzzes a runner's output lines: events and the results in them.
#![no_main]

use leadline_fuzz::mutate_json;
use leadline_protocol::{
    event::{Event, EventBody},
    report_summary::ReportSummary,
};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|line: &[u8]| {
    let Ok(event) = serde_json::from_slice::<Event>(line) else {
        return;
    };
    let stored = serde_json::to_string(&event).expect("an event is JSON");
    let parsed: Event = serde_json::from_str(&stored).expect("a stored event can be read");
    assert_eq!(
        serde_json::to_string(&parsed).expect("an event is JSON"),
        stored
    );
    match event.body {
        EventBody::Report(result) => {
            let _ = ReportSummary::new(&result.report, &result.verdict);
            let _ = (result.report.stalled_job(), result.report.is_hung());
            let _ = (result.report.damaged_job(), result.report.cpu_ns_per_io());
            let _ = result.report.device_ios_per_io();
        }
        EventBody::Sample(sample) => {
            let _ = sample.ios();
        }
        _ => {}
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
