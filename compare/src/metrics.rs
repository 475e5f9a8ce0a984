//! Metrics of all runs, their statistics by group, and their changes from the baseline.

use crate::{
    changes::{UncorrectedChange, Values},
    group::{Group, all_runs},
    group_statistics::statistics,
    latency_kinds,
    level::Level,
    thresholds::Thresholds,
};
use leadline_protocol::{
    compare::{Change, ComparedMetric, GroupStatistics},
    metrics::{METRICS, Metric},
};
use leadline_stats::{comparison::Ratio, holm};

/// Relative tolerance below which two changes count as one hypothesis, such as IOPS and bandwidth
/// with a single block size.
const SAME_RATIO: f64 = 1e-9;

/// Returns the metrics that at least one run has.
pub(crate) fn compare_metrics(
    groups: &[Group],
    baseline: usize,
    thresholds: &Thresholds,
    level: &Level,
    obstacles: &[Option<String>],
) -> Vec<ComparedMetric> {
    let metrics = METRICS.iter().filter(|metric| metric.report.is_some());
    let mut compared: Vec<(&Metric, ComparedMetric)> = metrics
        .map(|metric| (metric, values(metric, groups, thresholds)))
        .filter(|(_, compared)| compared.values.iter().any(Option::is_some))
        .collect();
    for (index, group) in groups.iter().enumerate() {
        let changes = if index == baseline {
            compared.iter().map(|_| None).collect()
        } else {
            let metrics = compared.iter().map(|(metric, _)| *metric);
            changes(
                metrics.collect(),
                &groups[baseline],
                group,
                thresholds,
                level,
                obstacles[index].as_deref(),
            )
        };
        for ((_, metric), change) in compared.iter_mut().zip(changes) {
            metric.changes.push(change);
        }
    }
    compared.into_iter().map(|(_, metric)| metric).collect()
}

fn values(metric: &Metric, groups: &[Group], thresholds: &Thresholds) -> ComparedMetric {
    let of_report = |report| metric.report.and_then(|value| value(report));
    let values = all_runs(groups).map(|run| run.report.and_then(of_report));
    let at_least = all_runs(groups).map(|run| run.report.is_some_and(metric.lower_bound));
    ComparedMetric {
        name: metric.name.into(),
        unit: metric.unit,
        better: metric.better,
        threshold_percent: thresholds.of(metric.name),
        values: values.collect(),
        at_least: at_least.collect(),
        groups: groups
            .iter()
            .map(|group| group_statistics(metric, group))
            .collect(),
        changes: Vec::with_capacity(groups.len()),
    }
}

fn group_statistics(metric: &Metric, group: &Group) -> GroupStatistics {
    let values: Vec<(&str, f64)> = group
        .included()
        .filter_map(|run| Some((run.label.as_str(), metric.report?(run.report?)?)))
        .collect();
    statistics(&values)
}

/// The changes in all metrics between two groups.
fn changes(
    metrics: Vec<&Metric>,
    a: &Group,
    b: &Group,
    thresholds: &Thresholds,
    level: &Level,
    obstacle: Option<&str>,
) -> Vec<Option<Change>> {
    let changes: Vec<Option<UncorrectedChange>> = metrics
        .iter()
        .map(|metric| Values::new(metric, a, b, level).change())
        .collect();
    let in_family = |primary: bool| -> Vec<Option<&Ratio>> {
        let changes = metrics.iter().zip(&changes);
        changes
            .map(|(metric, change)| {
                let change = change
                    .as_ref()
                    .filter(|_| level.is_primary(metric) == primary);
                change.and_then(UncorrectedChange::ratio)
            })
            .collect()
    };
    let (primary, primary_tested) = adjusted_p_values(&in_family(true));
    let (other, other_tested) = adjusted_p_values(&in_family(false));
    let adjusted = primary.into_iter().zip(other);
    let metrics = metrics.into_iter().zip(adjusted);
    metrics
        .zip(changes)
        .map(|((metric, (primary, other)), change)| {
            let (adjusted_p, tested) = match level.is_primary(metric) {
                true => (primary, primary_tested),
                false => (other, other_tested),
            };
            let change = change?;
            let Some(better) = metric.better.filter(|_| metric.is_tested) else {
                return Some(change.untested());
            };
            let latency_obstacle = latency_kinds::obstacle(metric, a, b);
            Some(match obstacle.or(latency_obstacle.as_deref()) {
                Some(obstacle) => change.not_comparable(obstacle),
                None => {
                    let threshold = 1.0 + thresholds.of(metric.name) / 100.0;
                    change.tested(better, threshold, adjusted_p, tested)
                }
            })
        })
        .collect()
}

/// Returns the p-value of each tested metric of a family after Holm's correction, and the number of
/// hypotheses.
fn adjusted_p_values(ratios: &[Option<&Ratio>]) -> (Vec<Option<f64>>, usize) {
    let mut hypotheses: Vec<&Ratio> = Vec::new();
    let mut hypothesis_of = Vec::new();
    for ratio in ratios {
        hypothesis_of.push(ratio.map(|ratio| {
            let same = hypotheses.iter().position(|other| is_same(ratio, other));
            same.unwrap_or_else(|| {
                hypotheses.push(ratio);
                hypotheses.len() - 1
            })
        }));
    }
    let p_values: Vec<f64> = hypotheses.iter().map(|ratio| ratio.p_value).collect();
    let adjusted = holm::adjust(&p_values);
    let of_metrics = hypothesis_of
        .into_iter()
        .map(|hypothesis| hypothesis.map(|index| adjusted[index]));
    (of_metrics.collect(), adjusted.len())
}

fn is_same(a: &Ratio, b: &Ratio) -> bool {
    let is_close = |a: f64, b: f64| (a / b - 1.0).abs() < SAME_RATIO;
    is_close(a.estimate.value, b.estimate.value)
        && is_close(a.estimate.low, b.estimate.low)
        && is_close(a.estimate.high, b.estimate.high)
        && a.p_value == b.p_value
}
