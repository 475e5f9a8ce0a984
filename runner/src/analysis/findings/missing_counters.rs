//! Counters that could not be read.

use crate::analysis::context::Context;
use leadline_protocol::finding::{Finding, Severity::Warning};

pub(crate) fn device_counters_missing(context: &Context) -> Option<Finding> {
    let has_device =
        context.any_job(|job| job.targets.iter().any(|target| target.device.is_some()));
    if !has_device || context.report.device.is_some() {
        return None;
    }
    let reason = context.report.absent.get("device")?;
    let sentence = format!(
        "The device counters are missing, so there is less evidence for the verdict: {}.",
        reason.trim_end_matches('.')
    );
    Some(Finding::new(
        Warning,
        "device_counters_missing",
        sentence,
        None,
        "Run where /sys is readable, or check iostat on the host.",
    ))
}
