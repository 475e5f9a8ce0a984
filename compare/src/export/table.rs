//! Rows of comparison tables as text: the tested metrics of a group and the baseline, and the
//! differences between groups.

use crate::{answer::signed, value_text::with_unit};
use leadline_protocol::{
    compare::{Assessment, Change, ChangeVerdict, ComparedMetric, Difference},
    format::{bandwidth, bytes, latency, plural, rate},
    metrics::{Better, METRICS, Unit},
};

pub struct MetricRow<'a> {
    pub name: &'static str,
    pub better: Better,
    /// Smallest change that matters, in percent.
    pub threshold_percent: f64,
    /// Median of the baseline.
    pub baseline: String,
    /// Median of the group.
    pub value: String,
    /// Empty if there is no change.
    pub change: String,
    /// Empty if the change has no interval.
    pub interval: String,
    /// Empty if the change has no verdict.
    pub verdict: &'static str,
    /// Why the verdict is `undecided`.
    pub reason: Option<String>,
    /// Why there is no change.
    pub no_change: Option<String>,
    /// The change as numbers; `None` if there is none.
    pub numbers: Option<&'a Change>,
}

/// `group`: index of the group in `assessment`.
pub fn metric_rows(assessment: &Assessment, group: usize) -> Vec<MetricRow<'_>> {
    let rows = assessment.metrics.iter();
    rows.filter_map(|metric| metric_row(assessment, metric, group))
        .collect()
}

fn metric_row<'a>(
    assessment: &'a Assessment,
    metric: &'a ComparedMetric,
    group: usize,
) -> Option<MetricRow<'a>> {
    let baseline = assessment.baseline as usize;
    let row = METRICS
        .iter()
        .find(|row| row.is_tested && row.name == metric.name)?;
    let median = |group: usize| {
        let median = metric.groups.get(group).and_then(|group| group.median);
        median.map_or("–".into(), |value| formatted(value, metric.unit))
    };
    let change = metric.changes.get(group)?.as_ref();
    let interval = change.and_then(|change| change.interval_percent);
    let verdict = change.and_then(|change| change.verdict);
    Some(MetricRow {
        name: row.label,
        better: row.better?,
        threshold_percent: metric.threshold_percent,
        baseline: median(baseline),
        value: median(group),
        change: change.map_or_else(String::new, |change| signed(change.percent) + " %"),
        interval: interval.map_or_else(String::new, |interval| {
            format!("{} to {} %", signed(interval.low), signed(interval.high))
        }),
        verdict: verdict.map_or("", verdict_text),
        reason: change
            .filter(|change| change.verdict == Some(ChangeVerdict::Undecided))
            .and_then(|change| change.reason.clone()),
        no_change: change
            .is_none()
            .then(|| no_change(assessment, metric, group)),
        numbers: change,
    })
}

/// Why a group has no change from the baseline.
fn no_change(assessment: &Assessment, metric: &ComparedMetric, group: usize) -> String {
    let baseline = assessment.baseline as usize;
    let median = |group: usize| metric.groups.get(group).and_then(|group| group.median);
    let missing = [baseline, group]
        .into_iter()
        .find(|group| median(*group).is_none());
    if let Some(group) = missing {
        return format!(
            "No run of “{}” has a value.",
            assessment.groups[group].label
        );
    }
    let label = &assessment.groups[baseline].label;
    if median(baseline) == Some(0.0) {
        return format!("The value of “{label}” is 0, so there is no ratio.");
    }
    format!("A value of “{label}” is a lower bound: I/Os were in flight at the end of the run.")
}

/// The distinct values in each group, without excluded runs. If a group has multiple values, each
/// is listed with its number of runs.
pub fn group_values(assessment: &Assessment, difference: &Difference) -> Vec<String> {
    let mut values = difference.values.iter();
    let groups = assessment.groups.iter().map(|group| {
        let mut counts: Vec<(String, usize)> = Vec::new();
        let values = (0..).zip(values.by_ref().take(group.runs.len()));
        for (_, value) in values.filter(|(index, _)| !group.excluded.contains(index)) {
            let text = value.as_deref();
            let text = text.map_or("none".into(), |text| with_unit(&difference.name, text));
            match counts.iter_mut().find(|(other, _)| *other == text) {
                Some((_, count)) => *count += 1,
                None => counts.push((text, 1)),
            }
        }
        match &counts[..] {
            [(text, _)] => text.clone(),
            _ => {
                let counts = counts.iter();
                let counts: Vec<String> = counts
                    .map(|(text, count)| format!("{text} ({})", plural(*count as u64, "run")))
                    .collect();
                counts.join(", ")
            }
        }
    });
    groups.collect()
}

fn formatted(value: f64, unit: Unit) -> String {
    match unit {
        Unit::PerSecond => rate(value),
        Unit::BytesPerSecond => bandwidth(value),
        Unit::Nanoseconds => latency(value),
        Unit::Bytes => bytes(value as u64),
        Unit::Percent => format!("{value:.1} %"),
        Unit::Milliseconds => format!("{value:.0} ms"),
        Unit::Count => format!("{value:.3}"),
    }
}

fn verdict_text(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::NotComparable => "not comparable",
        other => other.as_str(),
    }
}
