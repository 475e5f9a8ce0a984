//! Values of the metrics in one or more sampling windows. Windows can be added in any grouping: the
//! result depends only on the windows.

use leadline_protocol::{
    histogram::{self, Buckets},
    metrics::{METRICS, Metric, WindowValue},
    sample::Sample,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::LazyLock};

/// Metrics of series, in the order of their columns.
pub(crate) static COLUMNS: LazyLock<Vec<(&'static Metric, WindowValue)>> = LazyLock::new(|| {
    let columns = METRICS.iter().filter(|metric| metric.in_series);
    columns
        .filter_map(|metric| Some((metric, metric.window?)))
        .collect()
});

/// Statistics of one column.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(from = "(f64, f64, f64, f64)", into = "(f64, f64, f64, f64)")]
pub(crate) struct Stats {
    /// Counts, or gauge times milliseconds; 0 for latencies.
    pub sum: f64,
    /// Length of the windows with a value; 0 for latencies.
    pub ms: f64,
    /// Smallest value of a window.
    pub min: f64,
    /// Largest value of a window.
    pub max: f64,
}

impl From<(f64, f64, f64, f64)> for Stats {
    fn from((sum, ms, min, max): (f64, f64, f64, f64)) -> Self {
        Self { sum, ms, min, max }
    }
}

impl From<Stats> for (f64, f64, f64, f64) {
    fn from(stats: Stats) -> Self {
        (stats.sum, stats.ms, stats.min, stats.max)
    }
}

impl Stats {
    fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.ms += other.ms;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Aggregate {
    /// By metric; metrics without a value are absent.
    columns: BTreeMap<String, Stats>,
    /// Latencies of all directions: counts by bucket.
    latencies: BTreeMap<u32, u64>,
}

impl Aggregate {
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds a sampling window, which must not be empty.
    pub(crate) fn add(&mut self, sample: &Sample) {
        let directions = [&sample.read, &sample.write, &sample.trim];
        let latencies = histogram::merge(directions.map(|counts| &counts.lat_ns));
        for (metric, value) in &*COLUMNS {
            if let Some(stats) = stats_of(*value, sample, &latencies) {
                self.merge_column(metric.name, &stats);
            }
        }
        self.merge_latencies(latencies);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, stats) in &other.columns {
            self.merge_column(name, stats);
        }
        let latencies = other.latencies.iter();
        self.merge_latencies(latencies.map(|(bucket, count)| (*bucket, *count)));
    }

    pub(crate) fn stats(&self, name: &str) -> Option<&Stats> {
        self.columns.get(name)
    }

    pub(crate) fn latencies(&self) -> Buckets {
        let latencies = self.latencies.iter();
        latencies.map(|(bucket, count)| (*bucket, *count)).collect()
    }

    fn merge_column(&mut self, name: &str, stats: &Stats) {
        match self.columns.get_mut(name) {
            Some(sum) => sum.merge(stats),
            None => drop(self.columns.insert(name.into(), *stats)),
        }
    }

    fn merge_latencies(&mut self, latencies: impl IntoIterator<Item = (u32, u64)>) {
        for (bucket, count) in latencies {
            *self.latencies.entry(bucket).or_default() += count;
        }
    }
}

fn stats_of(value: WindowValue, sample: &Sample, latencies: &Buckets) -> Option<Stats> {
    let ms = sample.window_ms;
    let (value, sum, ms) = match value {
        WindowValue::Count(count) => {
            let count = count(sample)?;
            (count / ms * 1e3, count, ms)
        }
        WindowValue::Gauge(gauge) => {
            let level = gauge(sample)?;
            (level, level * ms, ms)
        }
        WindowValue::LatencyPercentile(percent) => (percentile(latencies, percent)?, 0.0, 0.0),
        WindowValue::LatencyMax => (max(latencies)?, 0.0, 0.0),
    };
    let (min, max) = (value, value);
    Some(Stats { sum, ms, min, max })
}

pub(crate) fn percentile(buckets: &Buckets, percent: f64) -> Option<f64> {
    let percentiles = histogram::percentiles(buckets, &[percent]);
    percentiles.first().map(|ns| *ns as f64)
}

pub(crate) fn max(buckets: &Buckets) -> Option<f64> {
    let (bucket, _) = buckets.last()?;
    Some(histogram::midpoint_of(*bucket as usize) as f64)
}
