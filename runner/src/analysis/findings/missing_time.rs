//! Stalled storage, a paused runner, and I/Os that had not completed at the end.

use crate::analysis::{context::Context, findings::rerun};
use leadline_protocol::{
    finding::{
        Finding,
        Severity::{Note, Serious, Warning},
    },
    format::{count, duration},
    report::missing_time::{PauseCause, Unfinished},
};
use serde_json::json;

/// I/Os in flight for less than a second need no finding, because the affected numbers are marked
/// as lower bounds.
const NOTABLE_NS: u64 = 1_000_000_000;

/// Reports the job that was stalled for the largest share of its time.
pub(crate) fn stalled(context: &Context) -> Option<Finding> {
    let jobs = context.report.jobs.iter();
    let stalled = jobs.filter_map(|job| Some((job, job.stalls.as_ref()?)));
    let (job, stalls) = stalled
        .filter(|(_, stalls)| stalls.count > 0)
        .max_by(|a, b| a.1.share.total_cmp(&b.1.share))?;
    let has_failed = context.report.stalled_job().is_some();
    let sentence = format!(
        "{} {} completed no I/O for {} of {}; the longest stall lasted {}.",
        if job.workers > 1 {
            "One worker of job"
        } else {
            "Job"
        },
        job.name,
        duration(stalls.total_ms),
        duration(job.duration_ms),
        duration(stalls.longest_ms),
    );
    Some(Finding::new(
        if has_failed { Serious } else { Warning },
        "stalled",
        sentence,
        json!({
            "stalls": stalls.count,
            "stalled_ms": stalls.total_ms,
            "longest_ms": stalls.longest_ms,
            "stalled_workers": stalls.workers,
        }),
        "Check the kernel log (dmesg) for device resets and timeouts.",
    ))
}

pub(crate) fn runner_paused(context: &Context) -> Option<Finding> {
    let pauses = &context.report.pauses;
    let first = pauses.first()?;
    let paused_ms: f64 = pauses.iter().map(|pause| pause.duration_ms).sum();
    let cause = match first.cause {
        PauseCause::Suspended => "the host was suspended",
        PauseCause::NotScheduled => "it was stopped or frozen, or the host was overloaded",
    };
    let sentence = format!(
        "The runner did not run for {}: {cause}. The latency of the I/Os in flight includes this time.",
        duration(paused_ms)
    );
    Finding::new(
        Warning,
        "runner_paused",
        sentence,
        json!({"pauses": pauses.len(), "paused_ms": paused_ms}),
        "Run it again on an idle host.",
    )
    .with_rerun(rerun::unchanged())
}

pub(crate) fn unfinished_ios(context: &Context) -> Option<Finding> {
    let report = context.report;
    let directions = [&report.read, &report.write, &report.trim];
    let latencies = directions.map(|stats| (&stats.lat_ns, stats.unfinished));
    let sync = (&report.sync.lat_ns, report.sync.unfinished);
    let has_bounds = |at_least: &[String]| at_least.iter().any(|name| name == "max");
    let bounded = latencies.into_iter().chain([sync]);
    let bounded = bounded.filter(|(lat, _)| has_bounds(&lat.at_least));
    let unfinished: Vec<Unfinished> = bounded.filter_map(|(_, unfinished)| unfinished).collect();
    let oldest_ns = unfinished.iter().map(|each| each.oldest_ns).max()?;
    if oldest_ns < NOTABLE_NS {
        return None;
    }
    let ios: u64 = unfinished.iter().map(|each| each.ios).sum();
    let sentence = format!(
        "{} {} still in flight at the end, the oldest for {}: the maximum latency is a lower bound.",
        count(ios),
        if ios == 1 { "I/O was" } else { "I/Os were" },
        duration(oldest_ns as f64 / 1e6),
    );
    Some(Finding::new(
        Note,
        "unfinished_ios",
        sentence,
        json!({"unfinished_ios": ios, "oldest_ms": oldest_ns as f64 / 1e6}),
        "Run longer to let the slowest I/Os complete.",
    ))
}
