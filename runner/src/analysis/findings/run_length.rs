//! Reports runs that were stopped early or are too short.

use crate::analysis::{context::Context, findings::rerun};
use leadline_protocol::{
    finding::{
        Finding, SHORT_RUN_MS,
        Severity::{Note, Serious, Warning},
    },
    format::duration,
    phase::Phase,
    report::EndedBy,
};
use serde_json::json;

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
    let (severity, sentence) = if ended_during_ramp(context) {
        let sentence = "All I/O completed before ramp_time ended, so nothing was measured.";
        (Serious, sentence.to_owned())
    } else {
        let sentence = format!("The run was short: {}.", duration(duration_ms));
        (Note, sentence)
    };
    Finding::new(
        severity,
        "short_run",
        sentence,
        json!({"duration_ms": duration_ms}),
        "Run for at least 10 s with time_based=1.",
    )
    .with_rerun(rerun::longer())
}

fn ended_during_ramp(context: &Context) -> bool {
    let report = context.report;
    let ios = report.read.ios + report.write.ios + report.trim.ios;
    let mut phases = report.phases.iter();
    ios == 0 && phases.any(|phase| phase.phase == Phase::Ramp)
}
