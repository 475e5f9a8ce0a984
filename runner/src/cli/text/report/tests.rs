//! Tests the text of recorded runs. `recorded/` holds the output of `leadline-runner run JOB
//! --json` without histogram buckets and cache maps.

use crate::cli::text::{
    report::render,
    study::{StepResult, render_results},
};
use anstream::adapter::strip_str;
use leadline_protocol::{
    plan::job::ResolvedJob, report::missing_time::Unfinished, result::RunResult,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct RecordedRun {
    jobs: Vec<ResolvedJob>,
    #[serde(flatten)]
    result: RunResult,
}

const WARM: &str = include_str!("recorded/warm.json");
const DIRECT: &str = include_str!("recorded/direct.json");
const DEFERRED: &str = include_str!("recorded/deferred.json");
const FLUSHED: &str = include_str!("recorded/flushed.json");
const MIXED: &str = include_str!("recorded/mixed.json");
const FAILED: &str = include_str!("recorded/failed.json");
const BLIND: &str = include_str!("recorded/blind.json");
/// `direct.json`, edited by hand: no I/O completed after the first second.
const STALLED: &str = include_str!("recorded/stalled.json");
const STUDY: &str = include_str!("recorded/study.json");

fn read(recorded: &str) -> RecordedRun {
    serde_json::from_str(recorded).expect("a recorded run")
}

fn text(recorded: &RecordedRun, width: usize) -> String {
    let styled = render(&recorded.jobs, &recorded.result, width);
    let text = strip_str(&styled).to_string();
    check_line_widths(&text, width);
    text
}

/// Checks that only lines with a path or command exceed the width.
fn check_line_widths(text: &str, width: usize) {
    for line in text.lines() {
        assert!(
            line.contains('/') || line.chars().count() <= width,
            "{line}"
        );
        assert_eq!(line, line.trim_end());
    }
}

macro_rules! snapshots {
    ($($name:ident: $recorded:expr, $width:literal;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), text(&read($recorded), $width));
        })*
    };
}

snapshots! {
    warm_buffered_read_80: WARM, 80;
    warm_buffered_read_120: WARM, 120;
    direct_read_80: DIRECT, 80;
    write_without_flush_80: DEFERRED, 80;
    write_without_flush_120: DEFERRED, 120;
    write_with_flush_100: FLUSHED, 100;
    two_jobs_read_and_write_80: MIXED, 80;
    failed_io_80: FAILED, 80;
    without_probes_80: BLIND, 80;
    stalled_80: STALLED, 80;
}

#[test]
fn study_with_three_steps() {
    let plan = serde_json::from_str(STUDY).expect("a recorded plan");
    let results = [DIRECT, WARM].map(|recorded| read(recorded).result);
    let results = [
        StepResult::Done(&results[0]),
        StepResult::Done(&results[1]),
        StepResult::Failed("The disk is full."),
    ];
    let text = [80, 120].map(|width| {
        let text = strip_str(&render_results(&plan, &results, width)).to_string();
        check_line_widths(&text, width);
        text
    });
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn reports_without_a_gauge_are_rendered() {
    let mut recorded = read(DIRECT);
    recorded.result.report.gauge = None;
    assert!(text(&recorded, 80).contains("  gauge      not recorded\n"));
}

#[test]
fn stalled_steps_are_reported() {
    let plan = serde_json::from_str(STUDY).expect("a recorded plan");
    let result = read(STALLED).result;
    let text = render_results(&plan, &[StepResult::Done(&result)], 80);
    let text = strip_str(&text).to_string();
    let line = "step 1       Job t1 completed no I/O for 9.00 s of 10.0 s.";
    assert!(text.contains(line), "{text}");
}

#[test]
fn reads_that_never_complete_are_rendered() {
    let mut recorded = read(STALLED);
    let reads = &mut recorded.result.report.read;
    reads.ios = 0;
    reads.lat_ns.count = 0;
    reads.lat_ns.mean = None;
    reads.unfinished = Some(Unfinished {
        ios: 1,
        oldest_ns: 10_000_000_000,
    });
    let text = text(&recorded, 80);
    let line = "unfinished   1 I/O was in flight at the end, the oldest for 10.0 s.";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("≥ 9.00 s"), "{text}");
}

#[test]
fn labels_are_styled() {
    let recorded = [read(DIRECT), read(MIXED)];
    let styled = recorded
        .map(|run| render(&run.jobs, &run.result, 80))
        .concat();
    for style in ["\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
        assert!(styled.contains(style), "{style:?}");
    }
}
