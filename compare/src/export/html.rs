//! A comparison as a single HTML file that works offline: it has no scripts or external references.

use crate::{
    export::{
        markup::escaped,
        plot::{axis, forest_plot},
        table::{MetricRow, group_values, metric_rows},
    },
    fact_names::fact_name,
    level::confidence_text,
};
use leadline_protocol::{
    compare::{Assessment, ComparabilityLevel, ComparedGroup, Difference},
    metrics::Better,
};
use std::fmt::Write;
use time::OffsetDateTime;

const STYLE: &str = "
body { font: 14px/1.5 system-ui, sans-serif; max-width: 1080px; margin: 24px auto; padding: 0 16px; color: #16202b; background: #fff }
h1 { font-size: 20px } h2 { font-size: 15px; margin-top: 28px }
.answer { font-size: 17px; font-weight: 600 }
.notice { border-left: 4px solid #c3ccd6; padding: 6px 12px; background: #f6f7f9 }
.comparable { border-color: #0b8a6a } .with_differences { border-color: #c77700 } .not_comparable { border-color: #c2410c }
td:first-child { min-width: 90px } .metrics td:first-child { min-width: 190px } .metrics td .mute { white-space: nowrap } .time { white-space: nowrap !important }
.metrics td { border-bottom: 0 } .metrics td, .reason td { border-top: 1px solid #dde2e8 }
.reason td { border-top: 0; padding-top: 0; font-size: 12px; color: #55636f }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: 4px 8px; border-bottom: 1px solid #dde2e8; white-space: nowrap }
th { vertical-align: bottom } th:first-child, td:first-child, .text { text-align: left; white-space: normal; overflow-wrap: anywhere }
.label { white-space: normal; overflow-wrap: anywhere; min-width: 90px } .differences td { white-space: normal; overflow-wrap: anywhere }
th .mute { display: block; font-weight: 400 }
.better { color: #08694f; font-weight: 600 } .worse { color: #b03a0a; font-weight: 600 }
.mute { color: #55636f; font-size: 12px } svg { vertical-align: middle; color: #55636f; overflow: visible } svg text { font-size: 11px; fill: currentColor }
@media (max-width: 700px) { table { display: block; overflow-x: auto } }
";

pub fn render(assessment: &Assessment) -> String {
    let labels: Vec<String> = assessment
        .groups
        .iter()
        .map(|group| escaped(&group.label))
        .collect();
    let quoted: Vec<String> = labels.iter().map(|label| format!("“{label}”")).collect();
    let title = format!("Comparison of {}", quoted.join(", "));
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
    );
    for answer in &assessment.answers {
        let _ = writeln!(html, "<p class=\"answer\">{}</p>", escaped(answer));
    }
    push_comparability(&mut html, assessment);
    push_tests(&mut html, assessment);
    for group in 0..assessment.groups.len() {
        if group as u64 != assessment.baseline {
            push_metrics(&mut html, assessment, group, &labels);
        }
    }
    push_differences(&mut html, assessment, &labels);
    push_definitions(&mut html, assessment);
    html + "</body></html>\n"
}

fn push_comparability(html: &mut String, assessment: &Assessment) {
    let comparability = &assessment.comparability;
    let level = match comparability.level {
        ComparabilityLevel::Comparable => "comparable",
        ComparabilityLevel::WithDifferences => "with_differences",
        ComparabilityLevel::NotComparable => "not_comparable",
    };
    let reasons: String = comparability
        .reasons
        .iter()
        .map(|reason| format!("<br>{}", escaped(reason)))
        .collect();
    let sentence = escaped(&comparability.sentence);
    let _ = writeln!(html, "<p class=\"notice {level}\">{sentence}{reasons}</p>");
}

fn push_metrics(html: &mut String, assessment: &Assessment, group: usize, labels: &[String]) {
    let baseline = &labels[assessment.baseline as usize];
    let rows = metric_rows(assessment, group);
    let common_reason = common_reason(&rows);
    let limit = limit(&rows);
    let common = common_threshold(assessment);
    let gray = match common {
        Some(percent) => format!("gray: ±{percent} %"),
        None => "gray: smallest change that matters".into(),
    };
    let is_paired = rows
        .iter()
        .any(|row| row.numbers.is_some_and(|change| change.paired));
    let basis = if is_paired {
        "within a pair of runs"
    } else {
        "between two runs, one from each group"
    };
    let _ = writeln!(
        html,
        "<h2>“{}” compared with “{baseline}”</h2>\n<p class=\"mute\">The change is the typical change {basis}. It is not the ratio of the two columns, which are medians of the runs.</p>\n<table class=\"metrics\"><thead><tr><th>Metric</th>{}{}<th>Change</th><th>{} interval</th><th>Change and interval<span class=\"mute\">{gray}</span>{}</th><th>Verdict</th></tr></thead><tbody>",
        labels[group],
        group_head(assessment, assessment.baseline as usize, labels),
        group_head(assessment, group, labels),
        confidence_text(assessment.confidence_percent),
        axis(limit)
    );
    for row in &rows {
        let undecided = row.reason.as_deref().filter(|_| common_reason.is_none());
        let own_reason = undecided.or(row.no_change.as_deref());
        let plot = row.numbers.map_or_else(String::new, |change| {
            forest_plot(change, limit, row.threshold_percent)
        });
        let reason = own_reason.map_or_else(String::new, |reason| {
            format!(
                "<tr class=\"reason\"><td colspan=\"7\">{}</td></tr>",
                escaped(reason)
            )
        });
        let _ = writeln!(
            html,
            "<tr><td>{} <span class=\"mute\">({} is better{})</span></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{plot}</td><td class=\"{}\">{}</td></tr>{reason}",
            row.name,
            better_text(row.better),
            match common {
                Some(_) => String::new(),
                None => format!(", {} % matters", row.threshold_percent),
            },
            row.baseline,
            row.value,
            row.change,
            row.interval,
            row.verdict,
            row.verdict
        );
    }
    html.push_str("</tbody></table>\n");
    if let Some(reason) = common_reason {
        let _ = writeln!(html, "<p>Undecided: {}</p>", escaped(reason));
    }
}

/// The reason that all undecided metrics share; `None` if fewer than two metrics are undecided.
fn common_reason<'a>(rows: &'a [MetricRow]) -> Option<&'a str> {
    let mut reasons = rows.iter().filter_map(|row| row.reason.as_deref());
    let (first, second) = (reasons.next()?, reasons.next()?);
    (first == second && reasons.all(|reason| reason == first)).then_some(first)
}

/// The threshold of all tested metrics, in percent, if it is the same for all of them.
fn common_threshold(assessment: &Assessment) -> Option<f64> {
    let tested = assessment.metrics.iter().filter(|metric| {
        let changes = metric.changes.iter().flatten();
        changes.clone().any(|change| change.verdict.is_some())
    });
    let mut thresholds = tested.map(|metric| metric.threshold_percent);
    let first = thresholds.next().unwrap_or(assessment.threshold_percent);
    thresholds.all(|percent| percent == first).then_some(first)
}

fn better_text(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    }
}

/// Percentage at both ends of the plot. Larger changes are clipped.
fn limit(rows: &[MetricRow]) -> f64 {
    let thresholds = rows.iter().map(|row| row.threshold_percent);
    let threshold = thresholds.fold(0.0, f64::max);
    let changes = rows.iter().filter_map(|row| row.numbers);
    let bounds = changes.filter_map(|change| change.interval_percent);
    let largest = bounds
        .flat_map(|interval| [interval.low.abs(), interval.high.abs()])
        .fold(0.0, f64::max);
    (largest * 1.1).clamp(threshold * 2.5, 60.0_f64.max(threshold * 2.5))
}

/// Header of the column with a group's values.
fn group_head(assessment: &Assessment, group: usize, labels: &[String]) -> String {
    let label = &labels[group];
    let statistic = match assessment.groups[group].complete {
        1 => String::new(),
        runs => format!("<span class=\"mute\">median of {runs} runs</span>"),
    };
    format!("<th class=\"label\">{label}{statistic}</th>")
}

fn push_differences(html: &mut String, assessment: &Assessment, labels: &[String]) {
    let differences: Vec<&Difference> = [
        &assessment.result_differences,
        &assessment.setting_differences,
        &assessment.host_differences,
    ]
    .into_iter()
    .flatten()
    .collect();
    if differences.is_empty() {
        return;
    }
    let heads: String = labels
        .iter()
        .map(|label| format!("<th class=\"label\">{label}</th>"))
        .collect();
    let _ = writeln!(
        html,
        "<h2>Differences</h2>\n<table class=\"differences\"><thead><tr><th></th>{heads}</tr></thead><tbody>"
    );
    for difference in differences {
        let mark = if difference.is_harmful {
            " <span class=\"mute\">affects results</span>"
        } else {
            ""
        };
        let cells: String = group_values(assessment, difference)
            .into_iter()
            .map(|text| format!("<td>{}</td>", escaped(&text)))
            .collect();
        let name = escaped(&fact_name(&difference.name));
        let _ = writeln!(html, "<tr><td>{name}{mark}</td>{cells}</tr>");
    }
    html.push_str("</tbody></table>\n");
}

/// Adds each group's workload, host, start time and number of runs.
fn push_tests(html: &mut String, assessment: &Assessment) {
    html.push_str("<h2>Tests</h2>\n<table><thead><tr><th></th><th class=\"text\">Workload</th><th class=\"text\">Host</th><th class=\"text\">Start</th><th>Runs</th></tr></thead><tbody>");
    for group in &assessment.groups {
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td><td class=\"text time\">{}</td><td>{}</td></tr>",
            escaped(&group.label),
            lines(&group.workloads),
            lines(&group.hosts),
            lines(&started(group)),
            group.runs.len()
        );
    }
    html.push_str("</tbody></table>\n");
}

fn lines(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    texts.join("<br>")
}

/// Start times of the first and last runs.
fn started(group: &ComparedGroup) -> Vec<String> {
    let times = [group.first_started_at_ms, group.last_started_at_ms];
    let mut times: Vec<String> = times.into_iter().flatten().filter_map(minute).collect();
    times.dedup();
    if let [_, last] = &mut times[..] {
        *last = format!("to {last}");
    }
    times
}

/// For example, `2026-11-24 09:12 UTC`; `None` for years that cannot be represented.
fn minute(unix_ms: u64) -> Option<String> {
    let seconds = i64::try_from(unix_ms / 1000).ok()?;
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
    let (hour, minute) = (time.hour(), time.minute());
    Some(format!("{} {hour:02}:{minute:02} UTC", time.date()))
}

fn push_definitions(html: &mut String, assessment: &Assessment) {
    let groups: Vec<String> = assessment
        .groups
        .iter()
        .map(|group| {
            format!(
                "{}: {}",
                escaped(&group.label),
                escaped(&group.runs.join(", "))
            )
        })
        .collect();
    let (within, least) = match common_threshold(assessment) {
        Some(percent) => (format!("±{percent} %"), format!("{percent} %")),
        None => {
            let threshold = "the metric's smallest change that matters";
            (threshold.to_owned(), threshold.to_owned())
        }
    };
    let _ = writeln!(
        html,
        "<p class=\"mute\">Runs: {}.<br>Each value is the median of the runs. The change is the Hodges–Lehmann estimate of the ratio; {confidence} of such intervals contain the true ratio. <em>Equivalent</em>: the whole interval is within {within} (gray band). <em>Better</em> and <em>worse</em>: the change is at least {least}, and significant at {level} after correction for all metrics in the table (Holm). <em>Undecided</em>: anything else, with its reason.<br>Generated by Leadline.</p>",
        groups.join("; "),
        confidence = confidence_text(assessment.confidence_percent),
        level = confidence_text(100.0 - assessment.confidence_percent),
    );
}
