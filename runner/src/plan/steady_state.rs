//! Resolves `steadystate` and its options.

use crate::plan::issues::Issues;
use leadline_protocol::{
    finding::Severity::{Note, Warning},
    format::duration,
    job::{
        Job,
        range::{STEADY_STATE_INTERVAL, STEADY_STATE_WINDOW},
    },
    plan::job::{ResolvedJob, SteadyStateOptions},
};
use serde_json::json;

const US_PER_SECOND: u64 = 1_000_000;

/// `None` if `steadystate_duration` is not set, as in fio.
pub(crate) fn options(job: &Job) -> Option<SteadyStateOptions> {
    let duration_s = job.steadystate_duration().0 / US_PER_SECOND;
    (duration_s > 0).then(|| SteadyStateOptions {
        test: job.steadystate(),
        duration_s: u32::try_from(duration_s).unwrap_or(u32::MAX),
        ramp_s: u32::try_from(job.steadystate_ramp_time().0.div_ceil(US_PER_SECOND))
            .unwrap_or(u32::MAX),
        interval_s: u32::try_from(job.steadystate_check_interval().0 / US_PER_SECOND)
            .unwrap_or(u32::MAX)
            .max(1),
    })
}

pub(crate) fn check(job: &Job, issues: &mut Issues) {
    let us = job.steadystate_duration().0;
    check_interval(job, us, issues);
    if us == 0 {
        return;
    }
    if !us.is_multiple_of(US_PER_SECOND) {
        issues.invalid(
            "out_of_range",
            "steadystate_duration",
            "steadystate_duration must be a whole number of seconds.",
            format!("Use {}s.", us.div_ceil(US_PER_SECOND)),
        );
    } else if !STEADY_STATE_WINDOW.contains(us) {
        issues.invalid(
            "out_of_range",
            "steadystate_duration",
            "steadystate_duration must be between 2s and 24h, or 0.",
            "Use a time such as 10s.",
        );
    }
    let test = job.steadystate();
    if test.limit <= 0.0 {
        issues.invalid(
            "out_of_range",
            "steadystate",
            "The steadystate limit must be greater than 0: the criterion must be below it.",
            format!("Use a limit such as {}:5%.", test.criterion.as_str()),
        );
    }
}

/// As in fio (init.c, `fixup_options`): a window has at least two whole intervals.
fn check_interval(job: &Job, window_us: u64, issues: &mut Issues) {
    let interval_us = job.steadystate_check_interval().0;
    if !STEADY_STATE_INTERVAL.contains(interval_us) {
        issues.invalid(
            "out_of_range",
            "steadystate_check_interval",
            "steadystate_check_interval must be a whole number of seconds, at most 1h.",
            "Use a time such as 10s.",
        );
    } else if window_us > 0 && (window_us <= interval_us || !window_us.is_multiple_of(interval_us))
    {
        let interval_s = interval_us / US_PER_SECOND;
        let whole = window_us.div_ceil(interval_us).max(2) * interval_s;
        // A window outside of the allowed range is reported separately.
        if STEADY_STATE_WINDOW.contains(window_us) {
            issues.invalid(
                "out_of_range",
                "steadystate_duration",
                "steadystate_duration must be a multiple of steadystate_check_interval, at least \
                 twice its length.",
                format!("Use {whole}s, or another interval."),
            );
        }
    }
}

/// Reports that the job can end before its steady state, or that a rate limit makes it steady.
pub(crate) fn add_findings(job: &ResolvedJob, issues: &mut Issues) {
    let Some(options) = job.timing.steady_state else {
        return;
    };
    let first_ms = (u64::from(options.ramp_s) + u64::from(options.duration_s)) * 1000;
    match job.timing.runtime_ms {
        Some(runtime_ms) if runtime_ms < first_ms => issues.finding(
            Warning,
            "steady_state_unreachable",
            format!(
                "The steady state cannot be reached: runtime is {}, and the first window ends after {}.",
                duration(runtime_ms as f64),
                duration(first_ms as f64)
            ),
            json!({"runtime_ms": runtime_ms, "first_window_ms": first_ms}),
            "Increase runtime, or decrease steadystate_duration or steadystate_ramp_time.",
        ),
        _ if !job.timing.time_based => issues.finding(
            Note,
            "steady_state_limited_by_size",
            "The job ends when its data is transferred, even if it has not reached its steady state.",
            None,
            "Set time_based=1 and a maximum runtime.",
        ),
        _ => {}
    }
    if job.has_rate() {
        issues.finding(
            Note,
            "steady_state_with_rate",
            "The job has a rate limit. It is steady as soon as it reaches this rate.",
            None,
            "Remove the limit to find the steady state of the storage.",
        );
    }
}
