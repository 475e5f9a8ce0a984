//! The comparison of two groups of results.

use crate::cli::text::{
    style::{BOLD, DIM, GREEN, RED, YELLOW, paint},
    writer::{TextWriter, number_table},
};
use anstyle::Style;
use leadline_compare::rule::{Outcome, RuleResult};
use leadline_protocol::{
    compare::{Assessment, ChangeVerdict, ComparabilityLevel, ComparedMetric, Difference},
    format::{bandwidth, bytes, latency, rate},
    metrics::{METRICS, Unit},
};

/// Further differences are only in the JSON output.
const MAX_DIFFERENCES: usize = 8;

/// A metric of two groups as text.
pub(crate) struct MetricRow {
    pub name: &'static str,
    pub values: [String; 2],
    /// Empty without a change.
    pub change: String,
    pub interval: String,
    pub verdict: &'static str,
    pub reason: Option<String>,
}

pub(crate) fn render(assessment: &Assessment, rules: &[RuleResult], width: usize) -> String {
    let mut out = TextWriter::new(width);
    for answer in &assessment.answers {
        out.wrapped("", "", &paint(BOLD, answer).to_string());
    }
    out.blank_line();
    let comparability = &assessment.comparability;
    let (style, label) = match comparability.level {
        ComparabilityLevel::Comparable => (GREEN, "comparable"),
        ComparabilityLevel::WithDifferences => (YELLOW, "differences"),
        ComparabilityLevel::NotComparable => (RED, "not comp."),
    };
    out.styled_field(style, label, &comparability.sentence);
    for reason in &comparability.reasons {
        out.field("", reason);
    }
    write_differences(&mut out, assessment);
    out.blank_line();
    write_metrics(&mut out, assessment);
    if !rules.is_empty() {
        out.blank_line();
    }
    for result in rules {
        let style = outcome_style(result.outcome);
        let text = format!("{}: {}", result.rule, result.sentence);
        out.styled_field(style, outcome_word(result.outcome), &text);
    }
    out.into_text()
}

fn write_differences(out: &mut TextWriter, assessment: &Assessment) {
    let harmful: Vec<&Difference> = [
        &assessment.result_differences,
        &assessment.setting_differences,
        &assessment.host_differences,
    ]
    .into_iter()
    .flatten()
    .filter(|difference| difference.is_harmful)
    .collect();
    for difference in harmful.iter().take(MAX_DIFFERENCES) {
        let mut values: Vec<&str> = Vec::new();
        for value in &difference.values {
            let value = value.as_deref().unwrap_or("none");
            if !values.contains(&value) {
                values.push(value);
            }
        }
        out.field("", &format!("{}: {}", difference.name, values.join(" / ")));
    }
    if harmful.len() > MAX_DIFFERENCES {
        let hidden = harmful.len() - MAX_DIFFERENCES;
        out.field(
            "",
            &format!("{hidden} more differences (see --format=json)"),
        );
    }
}

fn write_metrics(out: &mut TextWriter, assessment: &Assessment) {
    let [a, b] = [0, 1].map(|group| {
        let group = &assessment.groups[group];
        match group.runs.len() {
            1 => group.label.clone(),
            _ => format!("{} ({})", group.label, group.complete),
        }
    });
    let mut table = number_table(["metric", &a, &b, "change", "95 % interval", "verdict"]);
    let rows = metric_rows(assessment);
    for row in &rows {
        let [a, b] = row.values.clone();
        table.add_row([
            row.name.to_owned(),
            a,
            b,
            row.change.clone(),
            row.interval.clone(),
            paint(verdict_style(row.verdict), row.verdict),
        ]);
    }
    out.table(&table);
    let mut reasons: Vec<&String> = rows.iter().filter_map(|row| row.reason.as_ref()).collect();
    reasons.dedup();
    for reason in reasons {
        out.wrapped("", "  ", &paint(DIM, format_args!("undecided: {reason}")));
    }
}

/// The tested metrics.
pub(crate) fn metric_rows(assessment: &Assessment) -> Vec<MetricRow> {
    let rows = assessment.metrics.iter();
    rows.filter_map(metric_row).collect()
}

fn metric_row(metric: &ComparedMetric) -> Option<MetricRow> {
    let row = METRICS
        .iter()
        .find(|row| row.is_tested && row.name == metric.name)?;
    let change = metric.changes.get(1)?.as_ref();
    let interval = change.and_then(|change| change.interval_percent);
    let verdict = change.and_then(|change| change.verdict);
    Some(MetricRow {
        name: row.label,
        values: [0, 1].map(|group| {
            let median = metric.groups[group].median;
            median.map_or("–".into(), |value| formatted(value, metric.unit))
        }),
        change: change.map_or_else(String::new, |change| format!("{:+.1} %", change.percent)),
        interval: interval.map_or_else(String::new, |interval| {
            format!("{:+.1} to {:+.1} %", interval.low, interval.high)
        }),
        verdict: verdict.map_or("", verdict_word),
        reason: change
            .filter(|change| change.verdict == Some(ChangeVerdict::Undecided))
            .and_then(|change| change.reason.clone()),
    })
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

fn verdict_word(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::NotComparable => "not comparable",
        other => other.as_str(),
    }
}

fn verdict_style(verdict: &str) -> Style {
    match verdict {
        "better" => GREEN,
        "worse" => RED,
        _ => DIM,
    }
}

pub(crate) fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Undecided => "undecided",
    }
}

fn outcome_style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Passed => GREEN,
        Outcome::Failed => RED,
        Outcome::Undecided => YELLOW,
    }
}
