//! Compares and exports stored results, and prints them as text reports.

use crate::cli::{
    compare::documents::{StoredResult, results},
    text,
};
use leadline_compare::{
    compare,
    export::{csv, html, markdown},
    group::Group,
    rule::Rule,
};
use leadline_protocol::{
    compare::Assessment,
    plan::job::ResolvedJob,
    result::RunResult,
    text::{is_deceptive, printable_document},
};
use serde_json::Value;

const WIDTH: usize = 80;
/// Maximum number of results. More results would only slow down the fuzz target.
const MAX_RESULTS: usize = 12;

/// `documents`: the results of two groups, alternating, or one result for both.
pub fn compare_results(documents: Vec<Value>, rule: &str) {
    let documents: Vec<Value> = documents.into_iter().map(printable_document).collect();
    documents.iter().for_each(check_report);
    let parsed = documents.into_iter().take(MAX_RESULTS);
    let stored: Vec<StoredResult> = parsed
        .filter_map(|document| results("result", document, None).ok())
        .flatten()
        .take(MAX_RESULTS)
        .collect();
    if stored.is_empty() {
        return;
    }
    let group = |first: usize| Group {
        label: format!("group {first}"),
        runs: stored
            .iter()
            .skip(first.min(stored.len() - 1))
            .step_by(2)
            .map(StoredResult::input)
            .collect(),
    };
    check(&compare(&[group(0), group(1)], 0, 2.0), rule);
}

fn check(assessment: &Assessment, rule: &str) {
    let rules: Vec<_> = Rule::parse(rule).into_iter().collect();
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| rule.evaluate(assessment, None))
        .collect();
    let json = serde_json::to_string(assessment).expect("a comparison is JSON");
    let parsed: Assessment = serde_json::from_str(&json).expect("a comparison can be read");
    assert_eq!(
        serde_json::to_string(&parsed).expect("a comparison is JSON"),
        json
    );
    let html = html::render(assessment);
    assert!(!html.contains("<script"));
    for text in [
        html,
        csv::render(assessment),
        markdown::render(assessment, &rules),
    ] {
        assert!(is_inert(&text));
    }
    let _ = text::comparison::render(assessment, &rules, WIDTH);
}

fn check_report(document: &Value) {
    let jobs = serde_json::from_value::<Vec<ResolvedJob>>(document["jobs"].clone());
    let result = serde_json::from_value::<RunResult>(document.clone());
    if let (Ok(jobs), Ok(result)) = (jobs, result) {
        let _ = text::report::render(&jobs, &result, WIDTH);
    }
}

fn is_inert(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && is_deceptive(c))
}
