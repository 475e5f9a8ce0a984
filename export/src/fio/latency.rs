//! `slat_ns`, `clat_ns`, `lat_ns` and the latency of syncs.

use crate::fio::rounded;
use leadline_protocol::{histogram, report::stats::LatencyStats};
use serde::Serialize;
use serde_json::{Map, Value};

/// fio's default `percentile_list`.
pub(super) const PERCENTILES: &[f64] = &[
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// In ns. All numbers are 0 without I/O, as in fio.
#[derive(Serialize)]
pub(super) struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Map::is_empty")]
    percentile: Map<String, Value>,
    /// Only in json+: number of I/Os by the midpoint of their bucket.
    #[serde(skip_serializing_if = "Map::is_empty")]
    bins: Map<String, Value>,
}

/// fio prints percentiles only for completion latencies and syncs.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Detail {
    Summary,
    Percentiles,
    Bins,
}

impl Latency {
    pub(super) fn new(stats: &LatencyStats, detail: Detail) -> Self {
        let has_percentiles = detail != Detail::Summary;
        Self {
            min: stats.min.unwrap_or(0),
            max: stats.max.unwrap_or(0),
            mean: rounded(stats.mean.unwrap_or(0.0)),
            stddev: rounded(stats.stddev.unwrap_or(0.0)),
            count: stats.count,
            percentile: if has_percentiles {
                percentiles(stats)
            } else {
                Map::new()
            },
            bins: if detail == Detail::Bins {
                bins(stats)
            } else {
                Map::new()
            },
        }
    }
}

fn percentiles(stats: &LatencyStats) -> Map<String, Value> {
    let list = percentile_list(stats).into_iter();
    list.map(|(percentile, ns)| (format!("{percentile:.6}"), Value::from(ns)))
        .collect()
}

fn bins(stats: &LatencyStats) -> Map<String, Value> {
    let bins = stats.buckets.iter().map(|(bucket, count)| {
        let midpoint = histogram::midpoint_of(*bucket as usize);
        (midpoint.to_string(), Value::from(*count))
    });
    bins.collect()
}

/// fio's percentiles (0-100) with their latencies in ns; empty without I/O.
pub(super) fn percentile_list(stats: &LatencyStats) -> Vec<(f64, u64)> {
    let entry = |percentile: &f64| {
        let ns = stats.percentiles.get(&percentile.to_string())?;
        Some((*percentile, *ns))
    };
    PERCENTILES.iter().filter_map(entry).collect()
}
