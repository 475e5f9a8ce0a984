//! Groups that are not comparable do not affect other groups.

use super::{STEADY, change, compare_runs, members, run, scaled};
use leadline_protocol::{
    compare::{ChangeVerdict, ComparabilityLevel},
    run::Run,
    status::RunStatus,
};

fn group(factor: f64, first: u64, kernel: &str) -> Vec<Run> {
    let runs = (first..).zip(scaled(factor));
    runs.map(|(number, iops)| run(number, iops, "device", kernel))
        .collect()
}

#[test]
fn overlapping_groups_are_not_comparable() {
    let runs = group(1.0, 1, "6.1");
    let all = members(&runs, false);
    let assessment = compare_runs(&[("a", all[..6].to_vec()), ("b", all[3..9].to_vec())]);
    let comparability = &assessment.comparability;
    assert_eq!(comparability.level, ComparabilityLevel::NotComparable);
    assert_eq!(
        comparability.sentence,
        "Not comparable: #4 and 2 other runs are in both “a” and “b”."
    );
    let one = compare_runs(&[("a", all[..4].to_vec()), ("b", all[3..].to_vec())]);
    assert_eq!(one.answers, ["Not comparable: #4 is in both “a” and “b”."]);
}

#[test]
fn groups_that_mix_hosts_are_not_comparable() {
    let mut mixed = group(1.0, 1, "6.1");
    mixed.splice(5.., group(1.0, 50, "6.2"));
    let other = group(1.0, 101, "6.1");
    let assessment = compare_runs(&[
        ("before", members(&mixed, false)),
        ("after", members(&other, false)),
    ]);
    assert_eq!(
        assessment.comparability.sentence,
        "Not comparable: “before” mixes different hosts or devices: the runs differ in kernel (6.1 / 6.2)."
    );
    let mut updated = group(1.0, 1, "6.1");
    updated[3].host_facts.as_mut().unwrap().runner = "0.2.0".into();
    let assessment = compare_runs(&[
        ("before", members(&updated, false)),
        ("after", members(&other, false)),
    ]);
    assert_ne!(
        assessment.comparability.level,
        ComparabilityLevel::NotComparable
    );
}

#[test]
fn other_groups_stay_comparable() {
    let a = group(1.0, 1, "6.1");
    let slower = group(0.9, 101, "6.1");
    let mut failed = group(1.0, 201, "6.3");
    for run in &mut failed {
        run.summary.status = RunStatus::Failed;
    }
    let groups = [
        ("before", members(&a, true)),
        ("failed", members(&failed, true)),
        ("after", members(&slower, true)),
    ];
    let assessment = compare_runs(&groups);
    let comparability = &assessment.comparability;
    assert_eq!(comparability.level, ComparabilityLevel::WithDifferences);
    assert_eq!(comparability.sentence, "Same test on the same host.");
    assert_eq!(
        comparability.reasons[0],
        "Not comparable: “failed” has no run with a complete result."
    );
    assert_eq!(
        assessment.answers[0],
        "Not comparable: “failed” has no run with a complete result."
    );
    assert!(
        assessment.answers[1].starts_with("“after” has 10 % lower read IOPS than “before”"),
        "{}",
        assessment.answers[1]
    );
    let obstacles: Vec<bool> = assessment
        .groups
        .iter()
        .map(|group| group.obstacle.is_some())
        .collect();
    assert_eq!(obstacles, [false, true, false]);
    let iops = assessment
        .metrics
        .iter()
        .find(|metric| metric.name == "read_iops");
    let verdict = |group: usize| iops.unwrap().changes[group].as_ref().map(|c| c.verdict);
    assert_eq!(verdict(1), None);
    assert_eq!(verdict(2), Some(Some(ChangeVerdict::Worse)));
    assert_eq!(STEADY.len() as u64, assessment.groups[2].complete);
}

#[test]
fn baseline_obstacle_is_stated_once() {
    let failed: Vec<Run> = group(1.0, 1, "6.1")
        .into_iter()
        .map(|mut run| {
            run.summary.status = RunStatus::Failed;
            run
        })
        .collect();
    let (b, c) = (group(1.0, 101, "6.1"), group(1.0, 201, "6.1"));
    let assessment = compare_runs(&[
        ("a", members(&failed, true)),
        ("b", members(&b, true)),
        ("c", members(&c, true)),
    ]);
    let comparability = &assessment.comparability;
    assert_eq!(
        comparability.sentence,
        "Not comparable: “a” has no run with a complete result."
    );
    let stated = comparability
        .reasons
        .iter()
        .filter(|reason| reason.starts_with("Not comparable"));
    assert_eq!(stated.count(), 0);
}

#[test]
fn percentiles_without_enough_ios_have_no_interval() {
    let (a, b) = (group(1.0, 1, "6.1"), group(0.9, 101, "6.1"));
    let assessment = compare_runs(&[("a", members(&a, true)), ("b", members(&b, true))]);
    let p99 = change(&assessment, "read_lat_p99_ns");
    assert_eq!(p99.verdict, Some(ChangeVerdict::Undecided));
    assert_eq!((p99.interval_percent, p99.p_value), (None, None));
    let rule = crate::rule::Rule::parse("read.p99 worse than 5%").unwrap();
    let result = rule.evaluate(&assessment, None);
    assert_eq!(result.outcome, crate::rule::Outcome::Undecided);
    assert!(
        result.sentence.contains("requires 1000 per run"),
        "{}",
        result.sentence
    );
}
