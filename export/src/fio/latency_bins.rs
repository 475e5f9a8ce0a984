//! `latency_ns`, `latency_us` and `latency_ms`: percentages of I/Os by completion latency
//! (`io_u_mark_latency` in `io_u.c`).

use crate::fio::rounded;
use leadline_protocol::{histogram, report::JobReport};
use serde_json::{Map, Value};

const UPPER_LIMITS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The highest limit of `latency_ms`; latencies at or above it are counted as `>=2000`.
const LAST_LIMIT_MS: u64 = 2000;
/// As in fio, smaller percentages are rounded up to this value, so that rare I/Os remain visible.
const MIN_PERCENTAGE: f64 = 0.01;

/// Percentages of I/Os. Each entry counts the I/Os below its limit that no earlier entry counts.
/// I/Os are counted by the midpoint of their bucket, which is up to 0.8 % off.
pub(super) struct LatencyBins {
    pub(super) ns: [f64; 10],
    pub(super) us: [f64; 10],
    pub(super) ms: [f64; 12],
}

impl LatencyBins {
    pub(super) fn of(job: &JobReport) -> Self {
        let mut counts = ([0_u64; 10], [0_u64; 10], [0_u64; 12]);
        let directions = [&job.read, &job.write, &job.trim];
        let buckets = directions.map(|direction| &direction.clat_ns.buckets);
        for (bucket, count) in buckets.into_iter().flatten() {
            let ns = histogram::midpoint_of(*bucket as usize);
            let bin = match ns {
                0..1_000 => &mut counts.0[position(ns)],
                1_000..1_000_000 => &mut counts.1[position(ns / 1_000)],
                _ => &mut counts.2[position(ns / 1_000_000)],
            };
            *bin = bin.saturating_add(*count);
        }
        let total = job.read.ios + job.write.ios + job.trim.ios;
        Self {
            ns: counts.0.map(|count| percentage(count, total)),
            us: counts.1.map(|count| percentage(count, total)),
            ms: counts.2.map(|count| percentage(count, total)),
        }
    }

    /// The percentages of `us`, with all latencies below 1 µs in the first one, as in terse output
    /// (`stat_calc_lat_nu`).
    pub(super) fn with_nanoseconds(&self) -> [f64; 10] {
        let mut us = self.us;
        us[0] += self.ns.iter().sum::<f64>();
        us
    }

    /// The limits as text.
    pub(super) fn labels() -> impl Iterator<Item = String> {
        let limits = UPPER_LIMITS.iter().chain([&LAST_LIMIT_MS]);
        let texts = limits.map(ToString::to_string);
        texts.chain([format!(">={LAST_LIMIT_MS}")])
    }

    pub(super) fn json(values: &[f64]) -> Map<String, Value> {
        let pairs = Self::labels().zip(values);
        pairs
            .map(|(label, value)| (label, Value::from(rounded(*value))))
            .collect()
    }
}

/// Index of the first limit above the value.
fn position(value: u64) -> usize {
    let limits = UPPER_LIMITS.iter().chain([&LAST_LIMIT_MS]);
    limits.take_while(|limit| value >= **limit).count()
}

fn percentage(count: u64, total: u64) -> f64 {
    if count == 0 || total == 0 {
        return 0.0;
    }
    (count as f64 * 100.0 / total as f64).max(MIN_PERCENTAGE)
}
