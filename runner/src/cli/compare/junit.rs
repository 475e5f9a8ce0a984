//! Writes a comparison's rules as JUnit XML, with one test case per rule.

use leadline_compare::{
    export::markup::escaped,
    rule::{Outcome, RuleResult},
};
use leadline_protocol::compare::Assessment;
use std::fmt::Write;

pub(super) fn render(assessment: &Assessment, rules: &[RuleResult]) -> String {
    let count = |outcome| {
        let matching = rules.iter().filter(|result| result.outcome == outcome);
        matching.count()
    };
    let (failed, undecided) = (count(Outcome::Failed), count(Outcome::Undecided));
    let labels: Vec<&str> = assessment
        .groups
        .iter()
        .map(|group| group.label.as_str())
        .collect();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"{undecided}\">\n",
        escaped(&labels.join(" and ")),
        rules.len(),
    );
    for result in rules {
        let name = escaped(&result.rule);
        let sentence = escaped(&result.sentence);
        let element = match result.outcome {
            Outcome::Passed => format!("<system-out>{sentence}</system-out>"),
            Outcome::Failed => format!("<failure message=\"{sentence}\"/>"),
            Outcome::Undecided => format!("<error message=\"{sentence}\" type=\"undecided\"/>"),
        };
        let _ = writeln!(
            xml,
            "  <testcase classname=\"leadline\" name=\"{name}\">{element}</testcase>"
        );
    }
    xml + "</testsuite>\n"
}
