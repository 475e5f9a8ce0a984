//! What went wrong or is missing: errors, runs that were cut or too short, counters that could not be read.

use crate::analysis::case::Case;
use crate::analysis::findings::rerun;
use crate::plan::findings::SHORT_RUN_MS;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::{Note, Serious, Warning};
use leadline_protocol::format::{bytes, count, duration};
use leadline_protocol::report::EndedBy;
use serde_json::json;

pub(crate) fn errors(case: &Case) -> Option<Finding> {
    let report = case.report;
    let first = report.errors.first.as_ref()?;
    let sentence = format!(
        "{} I/Os failed; the first was a {} of {} at {} of job {}: {}.",
        count(report.errors.total),
        first.operation,
        bytes(first.bytes),
        count(first.offset),
        first.job,
        first.message.trim_end_matches('.')
    );
    let evidence = [
        ("errors", json!(report.errors.total)),
        ("errno", json!(first.errno)),
    ];
    Some(Finding::new(
        Serious,
        "io_errors",
        sentence,
        &evidence,
        "Look into the kernel's log (dmesg) for what the device said.",
    ))
}

pub(crate) fn interrupted(case: &Case) -> Option<Finding> {
    let report = case.report;
    let sentence = format!(
        "The run was stopped after {:.1} s: the numbers are those until then.",
        report.duration_ms / 1000.0
    );
    let is_stopped = report.ended_by == EndedBy::Signal;
    is_stopped.then(|| {
        Finding::new(
            Warning,
            "stopped_early",
            sentence,
            &[],
            "Run it again to its end.",
        )
        .with_rerun(rerun::unchanged())
    })
}

pub(crate) fn short_run(case: &Case) -> Option<Finding> {
    let duration_ms = case.report.duration_ms;
    (duration_ms < SHORT_RUN_MS as f64).then(|| {
        let sentence = format!(
            "{} is short: good for a look, not for a number.",
            duration(duration_ms)
        );
        let remedy = "Run for at least 10 s, with time_based=1.";
        Finding::new(
            Note,
            "short_run",
            sentence,
            &[("duration_ms", json!(duration_ms))],
            remedy,
        )
        .with_rerun(("Run 60 s", json!({"runtime": "60s", "time_based": 1})))
    })
}

pub(crate) fn counters_absent(case: &Case) -> Option<Finding> {
    let wanted = case
        .jobs
        .iter()
        .flat_map(|job| &job.targets)
        .any(|target| target.device.is_some());
    let reason = case
        .report
        .absent
        .get("device")
        .filter(|_| wanted && case.report.device.is_none())?;
    let sentence = format!(
        "The device's counters are missing, so that less proves where the I/O went: {}.",
        reason.trim_end_matches('.')
    );
    Some(Finding::new(
        Warning,
        "device_counters_absent",
        sentence,
        &[],
        "Run where /sys can be read, or watch iostat on the host.",
    ))
}
