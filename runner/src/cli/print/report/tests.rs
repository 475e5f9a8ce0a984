//! Recorded runs as a terminal shows them. `recorded/` holds what `leadline-runner run JOB --json` printed, less the buckets
//! and the maps.

use crate::cli::print::report::report;
use crate::cli::print::study::{StepResult, study_table};
use crate::cli::print::style::Style;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::result::RunResult;
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    jobs: Vec<ResolvedJob>,
    #[serde(flatten)]
    outcome: RunResult,
}

const WARM: &str = include_str!("recorded/warm.json");
const DIRECT: &str = include_str!("recorded/direct.json");
const DEFERRED: &str = include_str!("recorded/deferred.json");
const FLUSHED: &str = include_str!("recorded/flushed.json");
const MIXED: &str = include_str!("recorded/mixed.json");
const FAILED: &str = include_str!("recorded/failed.json");
const BLIND: &str = include_str!("recorded/blind.json");
const STUDY: &str = include_str!("recorded/study.json");

fn read(recorded: &str) -> Recorded {
    serde_json::from_str(recorded).expect("a recorded run")
}

fn shown(recorded: &str, width: usize) -> String {
    let Recorded { jobs, outcome } = read(recorded);
    let text = report(
        &jobs,
        &outcome,
        Style {
            color: false,
            width,
        },
    );
    check_form(&text, width);
    text
}

/// No line is longer than the terminal, unless a command stands on it, which must stay whole; no colour is set.
fn check_form(text: &str, width: usize) {
    for line in text.lines().filter(|line| !line.contains('/')) {
        assert!(line.chars().count() <= width, "{line}");
    }
    assert!(
        !text.contains('\x1b') && text.lines().all(|line| line == line.trim_end()),
        "{text}"
    );
}

macro_rules! snapshots {
    ($($name:ident: $recorded:expr, $width:literal;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), shown($recorded, $width));
        })*
    };
}

snapshots! {
    warm_buffered_read_80: WARM, 80;
    warm_buffered_read_120: WARM, 120;
    direct_read_80: DIRECT, 80;
    write_without_a_flush_80: DEFERRED, 80;
    write_without_a_flush_120: DEFERRED, 120;
    write_with_a_flush_100: FLUSHED, 100;
    two_jobs_both_ways_80: MIXED, 80;
    an_io_that_failed_80: FAILED, 80;
    without_probes_80: BLIND, 80;
}

#[test]
fn study_of_three_steps_80() {
    let plan = serde_json::from_str(STUDY).expect("a recorded plan");
    let outcomes = [DIRECT, WARM].map(|recorded| read(recorded).outcome);
    let results = [
        StepResult::Done(&outcomes[0]),
        StepResult::Done(&outcomes[1]),
        StepResult::Failed("The disk is full."),
    ];
    let text = [80, 120].map(|width| {
        study_table(
            &plan,
            &results,
            Style {
                color: false,
                width,
            },
        )
    });
    text.iter()
        .zip([80, 120])
        .for_each(|(text, width)| check_form(text, width));
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn colour_adds_and_changes_nothing() {
    let Recorded { jobs, outcome } = read(MIXED);
    let colored = report(
        &jobs,
        &outcome,
        Style {
            color: true,
            width: 80,
        },
    );
    let plain = [
        "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m",
    ];
    let stripped = plain
        .iter()
        .fold(colored, |text, code| text.replace(code, ""));
    let trimmed: Vec<&str> = stripped.lines().map(str::trim_end).collect();
    assert_eq!(trimmed.join("\n") + "\n", shown(MIXED, 80));
}
