//! Prints a comparison of two groups of results.

use crate::cli::text::{
    style::{BOLD, DIM, GREEN, RED, YELLOW, paint},
    writer::{TextWriter, number_table},
};
use anstyle::Style;
use leadline_compare::{
    export::table::{group_values, metric_rows},
    level::confidence_text,
    rule::{Outcome, RuleResult},
};
use leadline_protocol::compare::{Assessment, ComparabilityLevel, Difference};

/// Maximum number of differences shown; the JSON output lists all of them.
const MAX_DIFFERENCES: usize = 8;

pub(crate) fn render(assessment: &Assessment, rules: &[RuleResult], width: usize) -> String {
    let mut out = TextWriter::new(width);
    for answer in &assessment.answers {
        out.wrapped_text("", "", &paint(BOLD, answer).to_string());
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
        out.styled_field(style, result.outcome.as_str(), &text);
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
        let mut values = group_values(assessment, difference);
        values.dedup();
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
    let interval = format!(
        "{} interval",
        confidence_text(assessment.confidence_percent)
    );
    let mut table = number_table(["metric", &a, &b, "change", &interval, "verdict"]);
    let rows = metric_rows(assessment, 1);
    for row in &rows {
        let (a, b) = (row.baseline.clone(), row.value.clone());
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
        out.wrapped_text("", "  ", &paint(DIM, format_args!("undecided: {reason}")));
    }
}

fn verdict_style(verdict: &str) -> Style {
    match verdict {
        "better" => GREEN,
        "worse" => RED,
        _ => DIM,
    }
}

fn outcome_style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Passed => GREEN,
        Outcome::Failed => RED,
        Outcome::Undecided => YELLOW,
    }
}
