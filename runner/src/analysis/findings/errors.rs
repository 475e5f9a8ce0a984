//! I/O errors, runs that were stopped or too short, and missing counters.

use crate::analysis::{context::Context, findings::rerun};
use leadline_protocol::{
    finding::{
        Finding, SHORT_RUN_MS,
        Severity::{Note, Serious, Warning},
    },
    format::{bytes, count, duration},
    report::EndedBy,
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

pub(crate) fn stopped_early(context: &Context) -> Option<Finding> {
    let report = context.report;
    if report.ended_by != Some(EndedBy::Signal) {
        return None;
    }
    let sentence = format!(
        "The run was stopped after {:.1} s; the results cover the time up to that point.",
        report.duration_ms / 1000.0
    );
    Finding::new(
        Warning,
        "stopped_early",
        sentence,
        None,
        "Run it again to completion.",
    )
    .with_rerun(rerun::unchanged())
}

pub(crate) fn short_run(context: &Context) -> Option<Finding> {
    let duration_ms = context.report.duration_ms;
    if duration_ms >= SHORT_RUN_MS as f64 {
        return None;
    }
    let sentence = format!("The run was short: {}.", duration(duration_ms));
    Finding::new(
        Note,
        "short_run",
        sentence,
        json!({"duration_ms": duration_ms}),
        "Run for at least 10 s with time_based=1.",
    )
    .with_rerun(rerun::longer())
}

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
