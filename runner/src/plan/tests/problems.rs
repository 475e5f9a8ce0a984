//! Rejected jobs. Each case lists the problem's code, its field and a substring of its text.

mod host;
mod options;
mod regions;
mod states;
mod targets;

use crate::plan::tests::{host::TableHost, plan_on};
use leadline_protocol::problem::Problem;
use serde_json::Value;

pub(super) fn check_on(
    host: &TableHost,
    job: Value,
    expected: &[(&str, &str, &str)],
) -> Vec<Problem> {
    let plan = plan_on(host, job.clone());
    let found: Vec<_> = plan
        .problems
        .iter()
        .map(|problem| {
            (
                problem.code.as_str(),
                problem.field.as_deref().unwrap_or(""),
            )
        })
        .collect();
    let wanted: Vec<_> = expected
        .iter()
        .map(|(code, field, _)| (*code, *field))
        .collect();
    assert_eq!(found, wanted, "{job}\n{:#?}", plan.problems);
    for (problem, (.., text)) in plan.problems.iter().zip(expected) {
        assert!(
            problem.to_string().contains(text),
            "{text:?} is missing: {problem}"
        );
        assert!(
            problem.detail.ends_with('.') && !problem.remedy.is_empty(),
            "{problem}"
        );
    }
    plan.problems
}

/// Checks that a job has exactly one problem. `text`: a substring of its detail or remedy.
pub(super) fn check(job: Value, code: &str, option: &str, text: &str) -> Problem {
    check_on(
        &TableHost::default(),
        job,
        &[(code, &format!("jobs[0].{option}"), text)],
    )
    .remove(0)
}
