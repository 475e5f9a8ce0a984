//! Runs that reached their rate limit.

use super::{compare_runs, exclusions::job, members, report, run};
use leadline_protocol::run::Run;
use serde_json::json;

/// A read job with two workers and a limit per worker.
fn limited(number: u64, rate_iops: Option<u64>, iops: f64) -> Run {
    let mut limited = job();
    limited.numjobs = 2;
    limited.timing.rate_iops.read = rate_iops;
    let mut run = run(number, iops, "device", "6.1");
    run.report = serde_json::from_value(report(iops)).unwrap();
    run.resolved = Some(vec![limited]);
    run
}

fn reasons(before: &Run, after: &Run) -> Vec<String> {
    let before = members(std::slice::from_ref(before), false);
    let after = members(std::slice::from_ref(after), false);
    let assessment = compare_runs(&[("before", before), ("after", after)]);
    let reasons = assessment.comparability.reasons.into_iter();
    reasons
        .filter(|reason| reason.contains("rate limit"))
        .collect()
}

#[test]
fn different_reached_limits_are_reported() {
    let before = limited(1, Some(2000), 4000.0);
    let after = limited(2, Some(1910), 3819.0);
    assert_eq!(
        reasons(&before, &after),
        [
            "The runs reached different read rate limits (4000 IOPS / 3820 IOPS): read IOPS and bandwidth reflect this setting, and latencies were measured under different loads."
        ]
    );
}

#[test]
fn equal_reached_limits_are_reported() {
    let reasons = reasons(
        &limited(1, Some(2000), 4000.0),
        &limited(2, Some(2000), 3999.0),
    );
    assert!(
        reasons[0].starts_with("All runs reached their read rate limit (4000 IOPS)"),
        "{reasons:?}"
    );
}

#[test]
fn a_disturbed_run_does_not_hide_the_limits() {
    let group = |first: u64, rate: u64| -> Vec<Run> {
        let fast = (first..first + 9).map(|number| limited(number, Some(rate), 2.0 * rate as f64));
        fast.chain([limited(first + 9, Some(rate), rate as f64)])
            .collect()
    };
    let (before, after) = (group(1, 2000), group(101, 1900));
    let assessment = compare_runs(&[
        ("before", members(&before, true)),
        ("after", members(&after, true)),
    ]);
    let reasons = &assessment.comparability.reasons;
    let expected = "Most of the runs reached different read rate limits (4000 IOPS / 3800 IOPS)";
    assert!(
        reasons.iter().any(|reason| reason.starts_with(expected)),
        "{reasons:?}"
    );
    let answer = &assessment.answers[0];
    assert!(
        answer.ends_with("not the speed of the storage."),
        "{answer}"
    );
}

#[test]
fn unreached_limits_are_not_reported() {
    let before = limited(1, Some(2000), 4000.0);
    assert!(reasons(&before, &limited(2, Some(2000), 3000.0)).is_empty());
    assert!(reasons(&before, &limited(2, None, 3000.0)).is_empty());
    let report = json!(null);
    let mut without_report = limited(2, Some(2000), 4000.0);
    without_report.report = serde_json::from_value(report).unwrap();
    // Excluded from the statistics.
    assert_eq!(reasons(&before, &without_report).len(), 1);
}
