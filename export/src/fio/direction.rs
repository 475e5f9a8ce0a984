//! The objects `read`, `write`, `trim` and `sync` of a job in fio's JSON.

use crate::{
    fio::{
        latency::{Detail, Latency},
        rounded,
    },
    windows::{Spread, Throughput},
};
use leadline_protocol::report::stats::{DirectionStats, PriorityStats, SyncStats};
use serde::Serialize;

const KIB: f64 = 1024.0;

/// Bandwidths are in KiB/s unless the name says otherwise.
#[derive(Serialize)]
pub(super) struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    /// In ms; 0 without I/O.
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prios: Vec<Priority>,
    bw_min: u64,
    bw_max: u64,
    /// Percentage of the bandwidth of all jobs.
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: usize,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: usize,
}

/// As with `lat_percentiles=1`: total latencies instead of completion latencies.
#[derive(Serialize)]
struct Priority {
    prioclass: u8,
    prio: u8,
    lat_ns: Latency,
}

impl Priority {
    fn new(stats: &PriorityStats, detail: Detail) -> Self {
        Self {
            prioclass: stats.priority.class,
            prio: stats.priority.level,
            lat_ns: Latency::new(&stats.lat_ns, detail),
        }
    }
}

/// Throughput over time is known only for the whole run, so it is included only if the run has one
/// job.
pub(super) struct DirectionInput<'a> {
    pub(super) stats: &'a DirectionStats,
    pub(super) duration_ms: f64,
    pub(super) throughput: Option<&'a Throughput>,
    /// Bandwidth of all jobs in this direction, in bytes per second.
    pub(super) total_bytes_per_second: f64,
}

impl Direction {
    pub(super) fn new(input: &DirectionInput<'_>, clat: Detail) -> Self {
        let stats = input.stats;
        let bandwidth = Bandwidth::of(input);
        let iops = iops_spread(input);
        Self {
            io_bytes: stats.bytes,
            io_kbytes: stats.bytes >> 10,
            bw_bytes: stats.bytes_per_second as u64,
            bw: (stats.bytes_per_second / KIB) as u64,
            iops: rounded(stats.iops),
            runtime: runtime_ms(input),
            total_ios: stats.ios,
            short_ios: 0,
            drop_ios: 0,
            slat_ns: Latency::new(&stats.slat_ns, Detail::Summary),
            clat_ns: Latency::new(&stats.clat_ns, clat),
            lat_ns: Latency::new(&stats.lat_ns, Detail::Summary),
            prios: stats
                .priorities
                .iter()
                .map(|found| Priority::new(found, clat))
                .collect(),
            bw_min: bandwidth.spread.min as u64,
            bw_max: bandwidth.spread.max as u64,
            bw_agg: rounded(bandwidth.percentage),
            bw_mean: rounded(bandwidth.spread.mean),
            bw_dev: rounded(bandwidth.spread.stddev),
            bw_samples: bandwidth.spread.count,
            iops_min: iops.min as u64,
            iops_max: iops.max as u64,
            iops_mean: rounded(iops.mean),
            iops_stddev: rounded(iops.stddev),
            iops_samples: iops.count,
        }
    }
}

/// Bandwidth over time.
pub(super) struct Bandwidth {
    /// In KiB/s.
    pub(super) spread: Spread,
    /// The mean as a percentage of the bandwidth of all jobs.
    pub(super) percentage: f64,
}

impl Bandwidth {
    pub(super) fn of(input: &DirectionInput<'_>) -> Self {
        let values = input
            .throughput
            .map(|throughput| &throughput.bytes_per_second);
        let kib: Vec<f64> = values
            .into_iter()
            .flatten()
            .map(|value| value / KIB)
            .collect();
        let spread = Spread::of(&kib);
        let total = input.total_bytes_per_second / KIB;
        let percentage = match spread.mean * 100.0 / total {
            percentage if total > 0.0 => percentage.min(100.0),
            _ => 0.0,
        };
        Self { spread, percentage }
    }
}

pub(super) fn iops_spread(input: &DirectionInput<'_>) -> Spread {
    let values = input.throughput.map(|throughput| &throughput.iops[..]);
    Spread::of(values.unwrap_or_default())
}

/// As in fio, 0 without I/O and otherwise at least 1, because scripts divide by it.
pub(super) fn runtime_ms(input: &DirectionInput<'_>) -> u64 {
    if input.stats.ios > 0 {
        (input.duration_ms.round() as u64).max(1)
    } else {
        0
    }
}

#[derive(Serialize)]
pub(super) struct Sync {
    total_ios: u64,
    lat_ns: Latency,
}

impl Sync {
    pub(super) fn new(stats: &SyncStats, detail: Detail) -> Self {
        Self {
            total_ios: stats.ios,
            lat_ns: Latency::new(&stats.lat_ns, detail),
        }
    }
}
