//! A comparison as Markdown, for pull requests.

use leadline_compare::rule::RuleResult;
use leadline_protocol::compare::Assessment;

use crate::cli::text::comparison::{MetricRow, metric_rows, outcome_word};

pub(super) fn render(assessment: &Assessment, rules: &[RuleResult]) -> String {
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
                outcome_word(result.outcome),
                escaped(&result.sentence)
            ));
        }
    }
    let [a, b] = [0, 1].map(|group| escaped(&assessment.groups[group].label));
    lines.push(format!(
        "\n| metric | {a} | {b} | change | 95 % interval | verdict |\n|---|---:|---:|---:|---:|---|"
    ));
    for row in metric_rows(assessment) {
        let MetricRow {
            name,
            values: [a, b],
            change,
            interval,
            verdict,
            ..
        } = row;
        lines.push(format!(
            "| {name} | {a} | {b} | {change} | {interval} | {verdict} |"
        ));
    }
    lines.join("\n") + "\n"
}

/// Labels are names of files, which may contain anything.
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
