//! I/O errors.

use crate::analysis::context::Context;
use leadline_protocol::{
    finding::{Finding, Severity::Serious},
    format::{bytes, count},
};
use serde_json::json;

pub(crate) fn io_errors(context: &Context) -> Option<Finding> {
    let errors = &context.report.errors;
    let first = errors.first.as_ref()?;
    let mut sentence = format!(
        "{} {} failed. First: {} of {} at offset {} in job {}: {}.",
        count(errors.total),
        if errors.total == 1 { "I/O" } else { "I/Os" },
        first.operation,
        bytes(first.bytes),
        count(first.offset),
        first.job,
        first.message.trim_end_matches('.')
    );
    let tolerated: u64 = errors.tolerated.iter().map(|error| error.count).sum();
    if tolerated > 0 {
        sentence += &format!(
            " The job continued after {} of them (continue_on_error).",
            count(tolerated)
        );
    }
    Some(Finding::new(
        Serious,
        "io_errors",
        sentence,
        json!({"errors": errors.total, "errno": first.errno}),
        "Check the kernel log (dmesg).",
    ))
}
