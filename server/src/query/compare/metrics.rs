//! The numbers of runs side by side: one line a number.

use crate::query::compare::cpu_ns_per_io;
use leadline_protocol::compare::{Better, ComparedMetric};
use leadline_protocol::report::{DeviceReport, DirectionStats, Report};
use leadline_protocol::run::Run;

/// A number of one direction: the end of its name, its unit, which way it is better, where it stands.
type OfDirection = (
    &'static str,
    &'static str,
    Option<Better>,
    fn(&DirectionStats) -> Option<f64>,
);
/// A number of a whole report.
type OfReport = (
    &'static str,
    &'static str,
    Option<Better>,
    fn(&Report) -> Option<f64>,
);

/// A direction: its name, and where its numbers stand.
type Direction = (&'static str, fn(&Report) -> &DirectionStats);

const DIRECTIONS: &[Direction] = &[
    ("read", |report| &report.read),
    ("write", |report| &report.write),
    ("trim", |report| &report.trim),
];

const OF_DIRECTION: &[OfDirection] = &[
    ("iops", "1/s", Some(Better::Higher), |stats| {
        Some(stats.iops)
    }),
    (
        "bytes_per_second",
        "bytes/s",
        Some(Better::Higher),
        |stats| Some(stats.bytes_per_second),
    ),
    ("lat_mean_ns", "ns", Some(Better::Lower), |stats| {
        stats.lat_ns.mean
    }),
    ("lat_p50_ns", "ns", Some(Better::Lower), |stats| {
        percentile(stats, "50")
    }),
    ("lat_p99_ns", "ns", Some(Better::Lower), |stats| {
        percentile(stats, "99")
    }),
    ("lat_p999_ns", "ns", Some(Better::Lower), |stats| {
        percentile(stats, "99.9")
    }),
    ("intended_lat_p99_ns", "ns", Some(Better::Lower), |stats| {
        stats
            .intended_lat_ns
            .as_ref()
            .and_then(|lat| lat.percentiles.get("99"))
            .map(|ns| *ns as f64)
    }),
    ("lat_max_ns", "ns", Some(Better::Lower), |stats| {
        stats.lat_ns.max.map(|ns| ns as f64)
    }),
];

const OF_REPORT: &[OfReport] = &[
    ("cpu_ns_per_io", "ns", Some(Better::Lower), cpu_ns_per_io),
    ("achieved_depth", "1", None, |report| report.achieved_depth),
    ("device_read_iops", "1/s", None, |report| {
        device_rate(report, |device| device.counts.read_ios)
    }),
    ("device_write_iops", "1/s", None, |report| {
        device_rate(report, |device| device.counts.write_ios)
    }),
    ("device_read_bytes_per_second", "bytes/s", None, |report| {
        device_rate(report, |device| device.counts.read_bytes)
    }),
    ("device_write_bytes_per_second", "bytes/s", None, |report| {
        device_rate(report, |device| device.counts.write_bytes)
    }),
    ("device_utilization", "%", None, |report| {
        report.device.as_ref().map(|device| device.utilization)
    }),
    ("errors", "1", Some(Better::Lower), |report| {
        Some(report.errors.total as f64)
    }),
    ("duration_ms", "ms", None, |report| Some(report.duration_ms)),
];

fn percentile(stats: &DirectionStats, name: &str) -> Option<f64> {
    stats.lat_ns.percentiles.get(name).map(|ns| *ns as f64)
}

fn device_rate(report: &Report, count: fn(&DeviceReport) -> u64) -> Option<f64> {
    let device = report
        .device
        .as_ref()
        .filter(|_| report.duration_ms > 0.0)?;
    Some(count(device) as f64 / report.duration_ms * 1e3)
}

/// All numbers that any of the runs has.
pub(crate) fn table(runs: &[Run], baseline: usize) -> Vec<ComparedMetric> {
    let directions = DIRECTIONS.iter().flat_map(|(direction, stats)| {
        OF_DIRECTION.iter().map(move |(end, unit, better, of)| {
            let values = values(runs, |report| {
                Some(stats(report))
                    .filter(|stats| stats.ios > 0)
                    .and_then(of)
            });
            metric(
                &format!("{direction}_{end}"),
                unit,
                *better,
                values,
                baseline,
            )
        })
    });
    let whole = OF_REPORT
        .iter()
        .map(|(name, unit, better, of)| metric(name, unit, *better, values(runs, of), baseline));
    directions
        .chain(whole)
        .filter(|metric| metric.values.iter().any(Option::is_some))
        .collect()
}

fn values(runs: &[Run], of: impl Fn(&Report) -> Option<f64>) -> Vec<Option<f64>> {
    runs.iter()
        .map(|run| run.report.as_ref().and_then(&of))
        .collect()
}

fn metric(
    name: &str,
    unit: &str,
    better: Option<Better>,
    values: Vec<Option<f64>>,
    baseline: usize,
) -> ComparedMetric {
    let base = values
        .get(baseline)
        .copied()
        .flatten()
        .filter(|base| *base != 0.0);
    let change = |(place, value): (usize, &Option<f64>)| {
        let (base, value) = (base?, (*value)?);
        (place != baseline).then(|| (value - base) / base * 100.0)
    };
    let change_percent = values.iter().enumerate().map(change).collect();
    ComparedMetric {
        name: name.into(),
        unit: unit.into(),
        better,
        values,
        change_percent,
    }
}
