//! Checks that the tables in `docs/measurement.md` match the code.

use crate::analysis::verdict::{class::RULES, threshold::TABLE};

const DOCUMENT: &str = include_str!("../../../../docs/measurement.md");

fn wire_name(value: impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .unwrap()
        .as_str()
        .unwrap()
        .into()
}

fn check(table: &str, rows: &[String]) {
    let expected = rows.join("\n");
    assert!(
        DOCUMENT.contains(&expected),
        "The {table} in docs/measurement.md should be:\n{expected}"
    );
}

#[test]
fn thresholds_match_the_document() {
    let row = |threshold: &crate::analysis::verdict::threshold::Threshold| {
        format!(
            "| `{}` | {} | {} |",
            threshold.name, threshold.shown, threshold.reason
        )
    };
    check("thresholds", &TABLE.iter().map(row).collect::<Vec<_>>());
}

#[test]
fn shown_values_match_the_numbers() {
    for threshold in TABLE {
        let shown = match threshold.shown.split_once(' ') {
            Some((number, "%")) => number.parse::<f64>().unwrap() / 100.0,
            Some((number, "MiB")) => number.parse::<f64>().unwrap() * f64::from(1 << 20),
            Some((number, "I/Os")) => number.parse().unwrap(),
            _ => 0.5,
        };
        assert!(
            (shown - threshold.value).abs() < 1e-9,
            "{}: {} is not {}",
            threshold.name,
            threshold.shown,
            threshold.value
        );
    }
}

#[test]
fn rules_match_the_document() {
    let row = |rule: &crate::analysis::verdict::class::Rule| {
        let filled = |text: String, of: &crate::analysis::verdict::threshold::Threshold| {
            text.replace(&format!("{{{}}}", of.name), of.shown)
        };
        let when = TABLE.iter().fold(rule.when.to_owned(), filled);
        assert!(!when.contains('{'), "{when} contains an unknown threshold");
        format!("| `{}` | {when} | {} |", wire_name(rule.class), rule.means)
    };
    check("rules", &RULES.iter().map(row).collect::<Vec<_>>());
}
