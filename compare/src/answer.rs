//! The result of a comparison, as one sentence per group.

use crate::{group::quoted, level::confidence_text, undecided::pairs};
use leadline_protocol::{
    compare::{Change, ChangeVerdict, ComparedGroup, ComparedMetric},
    metrics::METRICS,
};
use std::collections::BTreeSet;

/// Metrics in the sentence, most important first. The sentence is about the first metric that both
/// groups have, and mentions any others that are better or worse.
pub(crate) const HEADLINES: &[&str] = &[
    "read_iops",
    "write_iops",
    "trim_iops",
    "read_lat_p99_ns",
    "write_lat_p99_ns",
    "sync_lat_p99_ns",
];

/// Returns one sentence per group except the baseline. `caution` is appended to all sentences that
/// contain numbers.
pub(crate) fn answers(
    groups: &[ComparedGroup],
    baseline: usize,
    metrics: &[ComparedMetric],
    confidence: f64,
    caution: &str,
) -> Vec<String> {
    let others = groups
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != baseline);
    let mut reasons = BTreeSet::new();
    others
        .map(|(index, group)| {
            if let Some(obstacle) = &group.obstacle {
                return format!("Not comparable: {obstacle}");
            }
            let changes = headlines(index, metrics, &mut reasons);
            let (base, name) = (quoted(&groups[baseline].label), quoted(&group.label));
            answer(&base, &name, &changes, confidence) + caution
        })
        .collect()
}

/// The headline metrics of a group, with their changes. Omits the reason for the first metric if an
/// earlier group has the same reason.
fn headlines<'a>(
    group: usize,
    metrics: &'a [ComparedMetric],
    reasons: &mut BTreeSet<String>,
) -> Vec<(&'a ComparedMetric, Change)> {
    let changes = HEADLINES.iter().filter_map(|name| {
        let metric = metrics.iter().find(|metric| metric.name == *name)?;
        Some((metric, metric.changes.get(group)?.clone()?))
    });
    let mut changes: Vec<(&ComparedMetric, Change)> = changes.collect();
    if let Some((_, first)) = changes.first_mut()
        && let Some(reason) = &first.reason
        && !reasons.insert(reason.clone())
    {
        first.reason = None;
    }
    changes
}

fn answer(
    base: &str,
    name: &str,
    changes: &[(&ComparedMetric, Change)],
    confidence: f64,
) -> String {
    let Some((metric, change)) = changes.first() else {
        return format!("{name} and {base} have no metric in common.");
    };
    let mut sentence = main_clause(base, name, metric, change, confidence);
    for (metric, change) in changes.iter().skip(1) {
        let is_decided = matches!(
            change.verdict,
            Some(ChangeVerdict::Better | ChangeVerdict::Worse)
        );
        if is_decided {
            sentence += &format!(" {}: {}.", label(metric), percent_text(change, confidence));
        }
    }
    sentence
}

/// `confidence` is the level of the interval, 0 to 1.
pub(crate) fn main_clause(
    base: &str,
    name: &str,
    metric: &ComparedMetric,
    change: &Change,
    confidence: f64,
) -> String {
    let count = match (change.paired, change.baseline_n, change.n) {
        (true, _, count) => pairs(count),
        (false, 1, 1) => "one run each".into(),
        (false, a, b) if a == b => format!("{a} runs each"),
        (false, a, b) => format!("{b} and {a} runs"),
    };
    let basis = format!("({}{count})", interval(change, confidence));
    let what = in_sentence(label(metric));
    let difference = difference(base, &what, change.percent);
    match change.verdict {
        Some(verdict @ (ChangeVerdict::Better | ChangeVerdict::Worse)) => {
            format!("{name} has {difference} {basis}: {}.", verdict.as_str())
        }
        Some(ChangeVerdict::Equivalent) => {
            format!("{name} and {base} have equivalent {what} {basis}.")
        }
        _ => {
            let reason = change.reason.as_deref().unwrap_or_default();
            let sentence = format!("Undecided: {name} has {difference} {basis}. {reason}");
            sentence.trim_end().to_owned()
        }
    }
}

/// Lowercases the first letter, as in `read IOPS`, unless the label starts with an abbreviation.
fn in_sentence(label: &str) -> String {
    let mut letters = label.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(label.chars().skip(1)).collect()
        }
        _ => label.to_owned(),
    }
}

/// Example: `+4.1 % (95 % interval +2.8 to +5.5 %, worse)`
fn percent_text(change: &Change, confidence: f64) -> String {
    let verdict = change.verdict.map_or("", ChangeVerdict::as_str);
    let percent = signed(change.percent);
    format!("{percent} % ({}{verdict})", interval(change, confidence))
}

/// Formats an interval as `95 % interval −5.5 to −2.8 %, `; empty without an interval.
fn interval(change: &Change, confidence: f64) -> String {
    match change.interval_percent {
        Some(interval) => format!(
            "{} interval {} to {} %, ",
            confidence_text(confidence * 100.0),
            signed(interval.low),
            signed(interval.high)
        ),
        None => String::new(),
    }
}

fn label(metric: &ComparedMetric) -> &str {
    let row = METRICS.iter().find(|row| row.name == metric.name);
    row.map_or(&metric.name, |row| row.label)
}

/// Example: `4.1 % lower read IOPS than before`. Large factors: `9.2 times the read IOPS of
/// before`.
fn difference(base: &str, what: &str, percent: f64) -> String {
    if percent >= 300.0 {
        return format!("{:.1} times the {what} of {base}", percent / 100.0 + 1.0);
    }
    let direction = if percent < 0.0 { "lower" } else { "higher" };
    format!("{} % {direction} {what} than {base}", digits(percent.abs()))
}

/// Formats a percentage with a sign: `+` or U+2212.
pub(crate) fn signed(percent: f64) -> String {
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{}", digits(percent.abs()))
}

fn digits(percent: f64) -> String {
    // 9.99 is formatted as 10, not as 10.0.
    if percent >= 9.95 {
        format!("{percent:.0}")
    } else {
        format!("{percent:.1}")
    }
}
