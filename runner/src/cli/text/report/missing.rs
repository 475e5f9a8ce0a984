//! Lists numbers that were not measured.

use crate::cli::text::{style::YELLOW, writer::TextWriter};
use leadline_protocol::report::Report;
use std::collections::BTreeSet;

/// Lists each reason once, with all of the numbers that it affects.
pub(super) fn write_missing(out: &mut TextWriter, report: &Report) {
    let mut reasons: Vec<(&str, BTreeSet<String>)> = Vec::new();
    for (number, reason) in absent_numbers(report) {
        let number = number.replace('_', " ");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, numbers)) => {
                numbers.insert(number);
            }
            None => reasons.push((reason, BTreeSet::from([number]))),
        }
    }
    for (reason, numbers) in reasons {
        let numbers: Vec<String> = numbers.into_iter().collect();
        let text = format!("{}: {reason}", numbers.join(", "));
        out.styled_field(YELLOW, "missing", &text);
    }
}

fn absent_numbers(report: &Report) -> Vec<(&str, &str)> {
    let mut absent: Vec<_> = report.absent.iter().collect();
    for target in &report.targets {
        // A file created by the run has no initial residency.
        let is_expected = |number: &str| !target.state.existed && number == "initial";
        absent.extend(
            target
                .absent
                .iter()
                .filter(|(number, _)| !is_expected(number)),
        );
    }
    absent
        .into_iter()
        .map(|(number, reason)| (number.as_str(), reason.as_str()))
        .collect()
}
