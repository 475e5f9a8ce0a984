//! fio results with and without `lat_percentiles`.

use super::{members, run, scaled};
use crate::group::Group;
use leadline_protocol::{
    compare::{Change, ChangeVerdict},
    report::foreign::{ForeignResult, LatencyKind, Source},
    run::Run,
};
use std::collections::BTreeMap;

/// Ten fio results with percentiles of this latency. Submission takes `slat_ns` of 10 ns.
fn runs(first: u64, of: LatencyKind, slat_ns: f64) -> Vec<Run> {
    let runs = (first..).zip(scaled(1.0)).map(|(number, iops)| {
        let mut run = run(number, iops, "unknown", "6.1");
        let report = run.report.as_mut().unwrap();
        report.read.slat_ns.mean = Some(slat_ns);
        report.read.lat_ns.count = 1_000_000;
        let p50_ns = 1000 + number % 7 + if of == LatencyKind::Lat { 300 } else { 0 };
        report.read.lat_ns.percentiles.insert("50".into(), p50_ns);
        report.foreign = Some(ForeignResult {
            source: Source::Fio,
            version: "fio-3.33".into(),
            hostnames: Vec::new(),
            added_results: 1,
            percentiles_of: Some(of),
            settings: BTreeMap::new(),
        });
        run
    });
    runs.collect()
}

fn p50(a: &[Run], b: &[Run]) -> Change {
    let groups = [("a", a), ("b", b)].map(|(label, runs)| Group {
        label: label.into(),
        runs: members(runs, true),
    });
    let assessment = crate::compare(&groups, 0, 2.0);
    let mut metrics = assessment.metrics.into_iter();
    let metric = metrics.find(|metric| metric.name == "read_lat_p50_ns");
    metric.unwrap().changes[1].clone().unwrap()
}

#[test]
fn total_and_completion_latencies_are_not_compared() {
    let total = runs(1, LatencyKind::Lat, 2.0);
    let completion = runs(101, LatencyKind::Clat, 2.0);
    let change = p50(&total, &completion);
    assert_eq!(change.verdict, Some(ChangeVerdict::NotComparable));
    let expected = "“a” has percentiles of lat, but “b” has percentiles of clat, which excludes submission (20 % of lat).";
    assert_eq!(change.reason.as_deref(), Some(expected));
    let reversed = p50(&completion, &total);
    assert_eq!(
        reversed.reason.as_deref(),
        Some(
            "“b” has percentiles of lat, but “a” has percentiles of clat, which excludes submission (20 % of lat)."
        )
    );
}

#[test]
fn latencies_with_negligible_submission_are_compared() {
    let total = runs(1, LatencyKind::Lat, 2.0);
    let other = runs(101, LatencyKind::Lat, 2.0);
    assert_eq!(p50(&total, &other).verdict, Some(ChangeVerdict::Equivalent));
    // Submission takes 0.5 % of the latency.
    let completion = runs(101, LatencyKind::Clat, 0.05);
    assert_eq!(
        p50(&total, &completion).verdict,
        Some(ChangeVerdict::Better)
    );
}
