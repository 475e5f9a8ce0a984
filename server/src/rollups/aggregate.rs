//! Metric values in one or more sampling windows. How the windows are grouped does not affect the
//! result.

use leadline_protocol::{
    histogram::{self, Buckets},
    metrics::{METRICS, Metric, WindowValue},
    sample::Sample,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::LazyLock};

/// Metrics that series contain, in column order.
pub(crate) static COLUMNS: LazyLock<Vec<(&'static Metric, WindowValue)>> = LazyLock::new(|| {
    let columns = METRICS.iter().filter(|metric| metric.in_series);
    columns
        .filter_map(|metric| Some((metric, metric.window?)))
        .collect()
});

/// Statistics of one column.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(from = "[f32; 4]", into = "[f32; 4]")]
pub(crate) struct Stats {
    /// Sum of counts, or of gauge values multiplied by milliseconds; 0 for latencies.
    pub sum: f64,
    /// Total length of the windows that have a value, in milliseconds; 0 for latencies.
    pub ms: f64,
    /// Lowest value in any window.
    pub min: f64,
    /// Highest value in any window.
    pub max: f64,
}

impl From<[f32; 4]> for Stats {
    fn from(stats: [f32; 4]) -> Self {
        let [sum, ms, min, max] = stats.map(f64::from);
        Self { sum, ms, min, max }
    }
}

/// Stored with seven significant digits.
impl From<Stats> for [f32; 4] {
    fn from(Stats { sum, ms, min, max }: Stats) -> Self {
        [sum, ms, min, max].map(|value| value as f32)
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
    /// Latencies of reads, writes and trims combined.
    #[serde(with = "gaps")]
    latencies: Buckets,
}

impl Aggregate {
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds a sampling window, which must not be empty.
    pub(crate) fn add(&mut self, sample: &Sample) {
        let latencies = merged_latencies(sample);
        for (metric, value) in &*COLUMNS {
            if let Some(stats) = window_stats(*value, sample, &latencies) {
                self.merge_column(metric.name, &stats);
            }
        }
        self.latencies = merge(&self.latencies, &latencies);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, stats) in &other.columns {
            self.merge_column(name, stats);
        }
        self.latencies = merge(&self.latencies, &other.latencies);
    }

    pub(crate) fn stats(&self, name: &str) -> Option<&Stats> {
        self.columns.get(name)
    }

    pub(crate) fn latencies(&self) -> &Buckets {
        &self.latencies
    }

    fn merge_column(&mut self, name: &str, stats: &Stats) {
        match self.columns.get_mut(name) {
            Some(sum) => sum.merge(stats),
            None => drop(self.columns.insert(name.into(), *stats)),
        }
    }
}

/// Latencies of one window, for reads, writes and trims combined.
pub(crate) fn merged_latencies(sample: &Sample) -> Buckets {
    let directions = [&sample.read, &sample.write, &sample.trim];
    directions
        .iter()
        .fold(Buckets::new(), |sum, counts| merge(&sum, &counts.lat_ns))
}

/// Sums the counts of two histograms in linear time, because a series merges thousands of them.
pub(super) fn merge(one: &Buckets, other: &Buckets) -> Buckets {
    let mut merged = Buckets::with_capacity(one.len() + other.len());
    let mut rest = other.iter().copied().peekable();
    for &(bucket, count) in one {
        while let Some(before) = rest.next_if(|(other, _)| *other < bucket) {
            merged.push(before);
        }
        let same = rest.next_if(|(other, _)| *other == bucket);
        let same = same.map_or(0, |(_, count)| count);
        merged.push((bucket, count.saturating_add(same)));
    }
    merged.extend(rest);
    merged
}

fn window_stats(value: WindowValue, sample: &Sample, latencies: &Buckets) -> Option<Stats> {
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

/// Stores histograms as bucket gaps and counts, which compress better than (bucket, count) pairs.
mod gaps {
    use leadline_protocol::histogram::{Buckets, is_valid};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        buckets: &Buckets,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        let mut gaps = Vec::with_capacity(buckets.len());
        let mut counts = Vec::with_capacity(buckets.len());
        for (bucket, count) in buckets {
            gaps.push(bucket - last);
            counts.push(*count);
            last = *bucket;
        }
        (gaps, counts).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Buckets, D::Error> {
        let (gaps, counts) = <(Vec<u32>, Vec<u64>)>::deserialize(deserializer)?;
        let buckets = gaps.iter().scan(0_u32, |last, gap| {
            *last = last.saturating_add(*gap);
            Some(*last)
        });
        let is_complete = gaps.len() == counts.len();
        let buckets: Buckets = buckets.zip(counts).collect();
        if is_complete && is_valid(&buckets) {
            Ok(buckets)
        } else {
            Err(D::Error::custom("not a histogram"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_sums_the_counts_of_equal_buckets() {
        let one = vec![(5, 1), (7, 2), (9, 3)];
        let other = vec![(1, 1), (7, 5), (8, 1), (12, 1)];
        let merged = vec![(1, 1), (5, 1), (7, 7), (8, 1), (9, 3), (12, 1)];
        assert_eq!(merge(&one, &other), merged);
        assert_eq!(merge(&other, &one), merged);
        assert_eq!(merge(&one, &Buckets::new()), one);
        assert_eq!(merge(&Buckets::new(), &one), one);
        let most = vec![(5, u64::MAX)];
        assert_eq!(merge(&most, &most), most, "an absurd count");
    }

    #[test]
    fn damaged_histograms_are_errors() {
        let parse = |latencies: &str| {
            let json = format!(r#"{{"columns": {{}}, "latencies": {latencies}}}"#);
            serde_json::from_str::<Aggregate>(&json).map(|aggregate| aggregate.latencies)
        };
        assert_eq!(parse("[[5, 2], [1, 3]]").unwrap(), [(5, 1), (7, 3)]);
        for damaged in [
            "[[5, 4294967295], [1, 1]]",
            "[[4294967295], [1]]",
            "[[5, 0], [1, 1]]",
            "[[5, 1], [1]]",
        ] {
            assert!(parse(damaged).is_err(), "{damaged}");
        }
    }
}
