//! A comparison as Markdown, for pull requests.

use crate::{
    export::table::{MetricRow, metric_rows},
    level::confidence_text,
    rule::RuleResult,
};
use leadline_protocol::compare::Assessment;

/// `rules`: results of a gate's rules; may be empty.
pub fn render(assessment: &Assessment, rules: &[RuleResult]) -> String {
    let mut lines = Vec::new();
    for answer in &assessment.answers {
        lines.push(format!("**{}**\n", escaped(answer)));
    }
    lines.push(format!("{}\n", escaped(&assessment.comparability.sentence)));
    for reason in &assessment.comparability.reasons {
        lines.push(format!("- {}", escaped(reason)));
    }
    if !rules.is_empty() {
        lines.push("\n| rule | outcome | |\n|---|---|---|".into());
        for result in rules {
            lines.push(format!(
                "| {} | {} | {} |",
                escaped(&result.rule),
                result.outcome.as_str(),
                escaped(&result.sentence)
            ));
        }
    }
    for group in 0..assessment.groups.len() {
        if group as u64 != assessment.baseline {
            push_metrics(&mut lines, assessment, group);
        }
    }
    lines.join("\n") + "\n"
}

fn push_metrics(lines: &mut Vec<String>, assessment: &Assessment, group: usize) {
    let label = |group: usize| escaped(&assessment.groups[group].label);
    let baseline = label(assessment.baseline as usize);
    lines.push(format!(
        "\n| metric | {baseline} | {} | change | {} interval | verdict |\n|---|---:|---:|---:|---:|---|",
        label(group),
        confidence_text(assessment.confidence_percent)
    ));
    for row in metric_rows(assessment, group) {
        let MetricRow {
            name,
            baseline,
            value,
            change,
            interval,
            verdict,
            ..
        } = row;
        lines.push(format!(
            "| {name} | {baseline} | {value} | {change} | {interval} | {verdict} |"
        ));
    }
}

/// Labels can be file names, which may contain any character.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if "\\`*_[]<>|#".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(if letter.is_control() { ' ' } else { letter });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_in_labels_is_escaped() {
        assert_eq!(escaped("a|b\n<i>"), "a\\|b \\<i\\>");
    }
}
