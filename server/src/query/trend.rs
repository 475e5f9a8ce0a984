//! The points in a series, and the changes between them. Pure.

use crate::store::trends::HostRun;
use leadline_compare::{
    DEFAULT_THRESHOLD_PERCENT,
    group::ComparedRun,
    trend::{
        changes::changes,
        hosts::Hosts,
        points::{self, SeriesRun, count_excluded},
    },
};
use leadline_protocol::{
    metrics::{METRICS, Metric},
    problem::Problem,
    status::RunStatus,
    trend::{Trend, TrendPoint, TrendQuery, TrendSeries},
};
use std::collections::BTreeMap;

/// Input data for a trend.
pub(crate) struct Input {
    pub series: TrendSeries,
    /// Ordered by number.
    pub runs: Vec<SeriesRun>,
    /// One run per host fingerprint.
    pub hosts: Vec<HostRun>,
}

/// `thresholds` come from the settings, in percent.
///
/// # Errors
/// The metric is unknown or is not used in comparisons.
pub(crate) fn trend(
    input: Input,
    query: &TrendQuery,
    thresholds: &BTreeMap<String, f64>,
) -> Result<Trend, Problem> {
    let Input {
        series,
        runs,
        hosts,
    } = input;
    let metrics = metrics_with_values(&runs);
    let metric = choose_metric(query.metric.as_deref(), &metrics)?;
    let pinned = series.baseline.as_ref();
    let pinned = pinned.and_then(|baseline| baseline.threshold_percent);
    let of_metric = thresholds.get(metric.name).copied();
    let threshold_percent = query.threshold.or(pinned).or(of_metric);
    let threshold_percent = threshold_percent.unwrap_or(DEFAULT_THRESHOLD_PERCENT);
    let points = points::points(&runs);
    let mut described: Vec<TrendPoint> = points
        .iter()
        .map(|point| point.describe(metric.name))
        .collect();
    let hosts: Vec<(String, ComparedRun)> = hosts.iter().map(with_host_fingerprint).collect();
    let hosts = Hosts::new(&hosts);
    for (pair, point) in points.windows(2).zip(described.iter_mut().skip(1)) {
        point.host_changes = hosts.changes(&pair[0], &pair[1]);
    }
    let baseline = series.baseline.as_ref();
    Ok(Trend {
        baseline_statistics: baseline
            .map(|baseline| points::statistics_of(&runs, &baseline.runs, metric.name)),
        changes: changes(&points, &described, metric.better, threshold_percent),
        common_findings: points::properties(&runs)
            .into_iter()
            .map(points::finding_text)
            .collect(),
        excluded: count_excluded(&described),
        older_runs: series.runs - runs.len() as u64,
        points: described,
        metric: metric.name.into(),
        unit: metric.unit,
        better: metric.better,
        metrics: metrics
            .iter()
            .map(|metric| metric.name.to_owned())
            .collect(),
        threshold_percent,
        series,
    })
}

/// Metrics with a value in at least one run, in the order used by comparisons.
fn metrics_with_values(runs: &[SeriesRun]) -> Vec<&'static Metric> {
    let has = |metric: &&Metric| {
        let mut values = runs.iter().filter_map(|run| run.values.as_ref());
        metric.report.is_some() && values.any(|values| values.metrics.contains_key(metric.name))
    };
    METRICS.iter().filter(has).collect()
}

fn choose_metric(
    name: Option<&str>,
    metrics: &[&'static Metric],
) -> Result<&'static Metric, Problem> {
    let compared = || METRICS.iter().filter(|metric| metric.report.is_some());
    let Some(name) = name else {
        let first = metrics.iter().find(|metric| metric.is_tested).copied();
        // No run has a value, so any metric can be used.
        return first
            .or_else(|| compared().next())
            .ok_or_else(|| unknown_metric(""));
    };
    let found = compared().find(|metric| metric.name == name);
    found.ok_or_else(|| unknown_metric(name))
}

fn unknown_metric(name: &str) -> Problem {
    let detail = format!("Unknown metric `{name}`.");
    let remedy = "Use one of the series' metrics, for example metric=read_iops.";
    Problem::invalid("bad_value", "metric", detail, remedy)
}

fn with_host_fingerprint(run: &HostRun) -> (String, ComparedRun<'_>) {
    let compared = ComparedRun {
        label: String::new(),
        number: None,
        status: RunStatus::Done,
        sample_ms: 0,
        resolved: &run.resolved,
        host: Some(&run.host),
        report: run.report.as_ref(),
        verdict: None,
        findings: &[],
        block: None,
        is_after_look: false,
    };
    (run.host_fingerprint.clone(), compared)
}
