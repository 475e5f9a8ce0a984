//! IOPS that shifted to a different level during the measurement.

use crate::analysis::context::Context;
use leadline_protocol::{
    evidence::level_change::LevelChange,
    finding::{Finding, Severity::Warning},
    format::{duration, rate},
    phase::Phase,
    report::JobReport,
};
use serde_json::json;

/// Workers with the same runtime end within this time of each other, in ms.
const END_TOLERANCE_MS: f64 = 500.0;

/// Reports the largest shift. Ignores shifts between device and memory, which are part of the
/// verdict, and runs whose jobs end at different times, because the level shifts whenever a job
/// ends.
pub(crate) fn level_changed(context: &Context) -> Option<Finding> {
    let report = context.report;
    let is_shorter = |job: &JobReport| job.duration_ms < report.duration_ms - END_TOLERANCE_MS;
    if report.jobs.iter().any(is_shorter) {
        return None;
    }
    let is_transition = |change: &&LevelChange| {
        let mut transitions = report.transitions.iter();
        transitions.any(|transition| transition.direction == change.direction)
    };
    let size = |change: &LevelChange| (change.after_iops / change.before_iops).ln().abs();
    let changes = report.level_changes.iter();
    let largest = changes
        .filter(|change| !is_transition(change))
        .max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let mut phases = report.phases.iter();
    let begin_ms = phases
        .find(|phase| phase.phase == Phase::Measure)
        .map_or(0.0, |phase| phase.start_ms);
    let fell = largest.after_iops < largest.before_iops;
    let sentence = format!(
        "{} after the start of the measurement, {} {} from {} to {} IOPS, and stayed at that level.",
        duration(largest.t_ms - begin_ms),
        largest.direction.noun(),
        if fell { "fell" } else { "rose" },
        rate(largest.before_iops),
        rate(largest.after_iops),
    );
    Some(Finding::new(
        Warning,
        "level_changed",
        sentence,
        json!({
            "level_changes": report.level_changes.len(),
            "t_ms": largest.t_ms,
            "before_iops": largest.before_iops,
            "after_iops": largest.after_iops,
        }),
        "The result is a mean of both levels. Measure one of them: set ramp_time to a time after the change, or use steadystate.",
    ))
}
