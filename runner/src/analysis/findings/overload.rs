//! Jobs that ended because more I/Os arrived than completed.

use crate::analysis::context::Context;
use leadline_protocol::{
    finding::{Finding, Severity::Warning},
    format::{count, duration},
};
use serde_json::json;

pub(crate) fn overloaded(context: &Context) -> Option<Finding> {
    let mut jobs = context.report.jobs.iter();
    let (name, overload) = jobs.find_map(|job| {
        let arrivals = job.arrivals.as_ref()?;
        Some((&job.name, arrivals.overload?))
    })?;
    let job = if context.report.jobs.len() > 1 {
        format!("Job {name}")
    } else {
        "The run".to_owned()
    };
    let sentence = format!(
        "{job} was overloaded and ended after {}: in the last {}, {} I/Os were due and {} completed, so the backlog grew from {} to {}.",
        duration(overload.after_ms as f64),
        duration(overload.period_ms as f64),
        count(overload.due),
        count(overload.completed),
        count(overload.backlog_at_start),
        count(overload.backlog_at_end),
    );
    Some(Finding::new(
        Warning,
        "overloaded",
        sentence,
        json!(overload),
        "Lower rate_iops. To measure for the planned time anyway, set overload_time=0.",
    ))
}
