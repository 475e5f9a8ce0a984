//! Tests how many more repeats an undecided change requires.

use super::{STEADY, change, compare_groups};
use leadline_protocol::compare::{Change, ChangeVerdict};

/// Run-to-run variation of several percent.
const NOISY: [f64; 10] = [
    1000.0, 1040.0, 960.0, 1025.0, 975.0, 1010.0, 1035.0, 965.0, 990.0, 1005.0,
];

fn read_iops(a: &[f64], b: &[f64], paired: bool) -> Change {
    let assessment = compare_groups(a, b, paired);
    change(&assessment, "read_iops").clone()
}

fn shuffled(factor: f64) -> Vec<f64> {
    NOISY.iter().rev().map(|iops| iops * factor).collect()
}

#[test]
fn repeats_are_derived_from_the_spread() {
    let change = read_iops(&NOISY, &shuffled(1.001), true);
    assert_eq!(change.verdict, Some(ChangeVerdict::Undecided));
    let reason = change.reason.unwrap();
    let more = change.more.unwrap();
    assert!(
        reason.contains(&format!("about {} more pairs", more.repeats)),
        "{reason}"
    );
    assert!(
        reason.starts_with("The interval includes both relevant and negligible changes."),
        "{reason}"
    );
    assert!(
        reason.ends_with("would confirm equivalence if nothing changed."),
        "{reason}"
    );
    // Each run of the fixture takes one second.
    assert_eq!(more.duration_ms, more.repeats as f64 * 2000.0);
}

#[test]
fn too_few_pairs_state_how_many_more_are_needed() {
    let slower = STEADY.map(|iops| iops * 0.95);
    let change = read_iops(&STEADY[..4], &slower[..4], true);
    let reason = change.reason.unwrap();
    assert!(
        reason.starts_with("A verdict on 3 metrics requires at least 7 pairs."),
        "{reason}"
    );
    let more = change.more.unwrap();
    assert!(more.repeats >= 3, "{reason}");
    assert!(
        reason.contains("would confirm a change of this size"),
        "{reason}"
    );
}

#[test]
fn no_repeat_count_if_the_spread_is_too_large() {
    let wild = [
        1000.0, 3000.0, 500.0, 2000.0, 800.0, 4000.0, 300.0, 900.0, 1500.0, 2500.0,
    ];
    let mut other = wild;
    other.reverse();
    let change = read_iops(&wild, &other, false);
    assert_eq!(change.more, None);
    let reason = change.reason.unwrap();
    assert!(
        reason.ends_with("With this spread, a verdict would require more than 50 runs per group."),
        "{reason}"
    );
}

#[test]
fn reason_mentions_a_correction_that_prevents_a_verdict() {
    let a = &NOISY[..8];
    let b: Vec<f64> = a
        .iter()
        .zip([0.93, 0.95, 0.92, 0.94, 1.004, 0.998, 0.95, 0.94])
        .map(|(a, factor)| a * factor)
        .collect();
    let change = read_iops(a, &b, true);
    assert_eq!(change.verdict, Some(ChangeVerdict::Undecided));
    let reason = change.reason.unwrap();
    assert!(
        reason.starts_with(
            "The interval excludes zero, but the change is not significant after correction for"
        ) && reason.contains("(Holm)"),
        "{reason} {:?} {:?}",
        change.interval_percent,
        change.p_value
    );
}
