//! Detects groups whose percentiles refer to different latencies. fio results contain percentiles
//! of the total latency (`lat`) only with `lat_percentiles=1`, and otherwise those of the
//! completion latency (`clat`), which excludes submission.

use crate::group::{Group, quoted};
use leadline_protocol::{
    metrics::Metric,
    report::{Report, foreign::LatencyKind, stats::DirectionStats},
};

/// Groups remain comparable if submission takes at most this share of the total latency.
const MAX_SUBMISSION_SHARE: f64 = 0.01;

/// Why the percentiles of two groups refer to different latencies; `None` if they refer to the same
/// one.
pub(crate) fn obstacle(metric: &Metric, a: &Group, b: &Group) -> Option<String> {
    let (kind_a, kind_b) = (kind(metric, a)?, kind(metric, b)?);
    let (total, completion) = match (kind_a, kind_b) {
        (LatencyKind::Lat, LatencyKind::Clat) => (a, b),
        (LatencyKind::Clat, LatencyKind::Lat) => (b, a),
        _ => return None,
    };
    let share = submission_share(metric, completion).unwrap_or(1.0);
    (share > MAX_SUBMISSION_SHARE).then(|| {
        format!(
            "{} has percentiles of lat, but {} has percentiles of clat, which excludes submission ({:.0} % of lat).",
            quoted(&total.label),
            quoted(&completion.label),
            100.0 * share
        )
    })
}

/// The latency that a group's percentiles refer to. `None` if the metric is not a latency
/// percentile.
fn kind(metric: &Metric, group: &Group) -> Option<LatencyKind> {
    let has_value = |report: &&Report| metric.report.is_some_and(|value| value(report).is_some());
    let mut reports = group.included().filter_map(|run| run.report);
    let first = reports.find(has_value)?;
    metric.name.contains("_lat_p").then_some(())?;
    direction(metric, first)?;
    Some(match &first.foreign {
        Some(foreign) => foreign.percentiles_of?,
        None => LatencyKind::Lat,
    })
}

fn direction<'a>(metric: &Metric, report: &'a Report) -> Option<&'a DirectionStats> {
    Some(match metric.name.split_once("_lat_p")?.0 {
        "read" => &report.read,
        "write" => &report.write,
        "trim" => &report.trim,
        _ => return None,
    })
}

/// The largest share of the mean latency that submission took in any run.
fn submission_share(metric: &Metric, group: &Group) -> Option<f64> {
    let share = |report: &Report| {
        let stats = direction(metric, report)?;
        Some(stats.slat_ns.mean? / stats.lat_ns.mean?)
    };
    let reports = group.included().filter_map(|run| run.report);
    reports.filter_map(share).max_by(f64::total_cmp)
}
