//! Compares a run's phases and durations with its plan.

use crate::observed::Observed;
use leadline_protocol::{
    phase::Phase,
    plan::{
        Plan,
        window::{window_begin_ms, window_ms},
    },
    report::{EndedBy, Report},
};

/// Maximum delay caused by a loaded host, in ms.
const LATE_MS: f64 = 2000.0;
/// Tolerance for times in ms that are sums of fractions.
const ROUNDING_MS: f64 = 1e-6;

pub(crate) fn violations(observed: &Observed, report: &Report) -> Vec<String> {
    let plan = &observed.plan;
    let mut found = Vec::new();
    found.extend(phases(plan, report));
    found.extend(window(plan, report));
    found.extend(estimate(plan, report));
    found
}

fn phases(plan: &Plan, report: &Report) -> Option<String> {
    let planned: Vec<Phase> = plan.phases.iter().map(|phase| phase.phase).collect();
    let done: Vec<Phase> = report.phases.iter().map(|phase| phase.phase).collect();
    (planned != done).then(|| format!("phases {planned:?} planned, {done:?} done"))
}

fn ramp_ms(report: &Report) -> f64 {
    let phase = report.phases.iter().find(|time| time.phase == Phase::Ramp);
    phase.map_or(0.0, |time| time.duration_ms)
}

/// Whether all jobs are limited only by `runtime`.
fn is_time_bound(plan: &Plan) -> bool {
    let mut jobs = plan.jobs.iter();
    jobs.all(|job| {
        let timing = &job.timing;
        timing.time_based && timing.number_ios.is_none() && !timing.exitall
    })
}

fn window(plan: &Plan, report: &Report) -> Option<String> {
    let window_ms = window_ms(&plan.jobs)? as f64;
    let begin_ms = window_begin_ms(&plan.jobs) as f64;
    let (ramp_ms, duration_ms) = (ramp_ms(report), report.duration_ms);
    let is_early = is_time_bound(plan)
        && (duration_ms < window_ms - ROUNDING_MS || ramp_ms < begin_ms - ROUNDING_MS);
    let is_late = duration_ms > window_ms + LATE_MS || ramp_ms > begin_ms + LATE_MS;
    let is_ended_early = is_time_bound(plan) && report.ended_by != Some(EndedBy::Runtime);
    (is_early || is_late || is_ended_early).then(|| {
        format!(
            "ramp {begin_ms} ms and window {window_ms} ms planned; {ramp_ms} and {duration_ms} ms, {:?}",
            report.ended_by
        )
    })
}

fn estimate(plan: &Plan, report: &Report) -> Option<String> {
    let planned_ms: f64 = plan
        .phases
        .iter()
        .filter_map(|phase| phase.seconds)
        .sum::<f64>()
        * 1e3;
    let Some(seconds) = plan.estimate.seconds else {
        let has_reason = plan.estimate.seconds_note.is_some();
        let is_unlimited = plan.jobs.iter().any(|job| job.timing.runtime_ms.is_none());
        return (!has_reason || !is_unlimited).then(|| "the duration has no estimate".to_owned());
    };
    let done_ms = ramp_ms(report) + report.duration_ms;
    let is_early = is_time_bound(plan) && done_ms < seconds * 1e3 - ROUNDING_MS;
    let is_late = done_ms > seconds * 1e3 + LATE_MS;
    let is_inconsistent = (planned_ms - seconds * 1e3).abs() > 1.0;
    (is_early || is_late || is_inconsistent)
        .then(|| format!("{seconds} s estimated, {planned_ms} ms in phases, {done_ms} ms elapsed"))
}
