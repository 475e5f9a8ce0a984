//! Detects jobs that fell behind their arrival schedule. I/Os that started late look fast if they
//! are measured from submission (coordinated omission).

use crate::analysis::context::Context;
use leadline_protocol::{
    evidence::transition::Direction,
    finding::{Finding, Severity::Warning},
    format::latency,
    report::stats::{DirectionStats, LatencyStats},
};
use serde_json::json;

/// Minimum ratio, and minimum difference in ns, between the p99 latencies from the intended start
/// and from submission. Timers and the scheduler cause smaller differences.
const MIN_RATIO: u64 = 2;
const MIN_DIFFERENCE_NS: u64 = 1_000_000;

pub(crate) fn coordinated_omission(context: &Context) -> Option<Finding> {
    let report = context.report;
    late_starts(Direction::Read, &report.read)
        .or_else(|| late_starts(Direction::Write, &report.write))
}

fn late_starts(direction: Direction, stats: &DirectionStats) -> Option<Finding> {
    let p99 = |stats: &LatencyStats| stats.percentiles.get("99").copied();
    let intended_ns = p99(stats.intended_lat_ns.as_ref()?)?;
    let lat_ns = p99(&stats.lat_ns)?;
    if intended_ns < MIN_RATIO * lat_ns || intended_ns < lat_ns + MIN_DIFFERENCE_NS {
        return None;
    }
    let sentence = format!(
        "The {} fell behind their rate: p99 is {} from the intended start and {} from submission.",
        direction.noun(),
        latency(intended_ns as f64),
        latency(lat_ns as f64)
    );
    Some(Finding::new(
        Warning,
        "coordinated_omission",
        sentence,
        json!({"intended_lat_p99_ns": intended_ns, "lat_p99_ns": lat_ns}),
        "Use the latency from the intended start (intended_lat_ns). To keep up, increase iodepth or numjobs, or lower the rate.",
    ))
}
