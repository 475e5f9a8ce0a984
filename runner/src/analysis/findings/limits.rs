//! Limits that ended the run (`rate_min`, `rate_iops_min` and `max_latency`).

use crate::analysis::context::Context;
use leadline_protocol::finding::{Finding, Severity::Serious};
use serde_json::json;

pub(crate) fn violated_limit(context: &Context) -> Option<Finding> {
    let (job, violated) = context.report.violated_limit()?;
    let sentence = format!("Job {} ended early. {}", job.name, violated.summary);
    let remedy = format!(
        "Find out why the storage is slow, or relax or remove {}.",
        violated.option
    );
    Some(Finding::new(
        Serious,
        "violated_limit",
        sentence,
        json!({"limit": violated.limit, "value": violated.value}),
        &remedy,
    ))
}
