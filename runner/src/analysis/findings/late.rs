//! Whether a job with a rate fell behind its timetable: the I/Os that had to wait for others look quick when one measures
//! from submission (coordinated omission), so that the reader is told which latency to lead with.

use crate::analysis::case::Case;
use leadline_protocol::evidence::Direction;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::Warning;
use leadline_protocol::format::latency;
use leadline_protocol::report::DirectionStats;
use serde_json::json;

/// Late starts count when they make the latency at the 99th percentile this many times as long ...
const TIMES_AS_LONG: u64 = 2;
/// ... and by so many ns longer: less is the timer's and the scheduler's.
const MUCH_LONGER_NS: u64 = 1_000_000;

/// The first direction whose I/Os started late.
pub(crate) fn late(case: &Case) -> Option<Finding> {
    let report = case.report;
    [
        (Direction::Read, &report.read),
        (Direction::Write, &report.write),
    ]
    .into_iter()
    .find_map(|(way, stats)| of(way, stats))
}

fn of(way: Direction, stats: &DirectionStats) -> Option<Finding> {
    let p99 =
        |percentiles: &std::collections::BTreeMap<String, u64>| percentiles.get("99").copied();
    let (intended_ns, lat_ns) = (
        p99(&stats.intended_lat_ns.as_ref()?.percentiles)?,
        p99(&stats.lat_ns.percentiles)?,
    );
    if intended_ns < TIMES_AS_LONG * lat_ns || intended_ns < lat_ns + MUCH_LONGER_NS {
        return None;
    }
    let sentence = format!(
        "The {} fell behind their rate: p99 is {} from when each should have started, and {} from when it was submitted.",
        way.noun(),
        latency(intended_ns as f64),
        latency(lat_ns as f64)
    );
    let evidence = [
        ("intended_lat_p99_ns", json!(intended_ns)),
        ("lat_p99_ns", json!(lat_ns)),
    ];
    Some(Finding::new(
        Warning,
        "late_starts",
        sentence,
        &evidence,
        "Lead with intended_lat_ns; a larger iodepth, numjobs or a lower rate lets I/Os start on time.",
    ))
}
