//! Time series of a run, and of the groups in a comparison.

use crate::metrics::{SeriesColumnName, Unit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Samples aggregated into buckets. Times are in milliseconds since the start of the measured
/// window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Series {
    /// Run number.
    pub run: u64,
    /// Start of the first bucket.
    pub from_ms: f64,
    /// End of the last bucket.
    pub to_ms: f64,
    /// Bucket length; a multiple of the sampling interval.
    pub bucket_ms: f64,
    /// End of each bucket.
    pub t_ms: Vec<f64>,
    pub columns: Vec<SeriesColumn>,
    /// Latency heat map across all directions: for each bucket, the non-empty rows in ascending
    /// order with their I/O counts. Null if not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_rows: Option<Vec<Vec<(u32, u64)>>>,
}

/// Time series of the groups of a comparison, in buckets that are the same for all runs. Times are
/// in milliseconds since the start of the measured window of each run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct GroupSeries {
    /// Bucket length.
    pub bucket_ms: f64,
    /// End of each bucket; at most 300.
    pub t_ms: Vec<f64>,
    /// In the order of the comparison.
    pub groups: Vec<GroupTimeSeries>,
}

/// Time series of one group.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct GroupTimeSeries {
    /// Numbers of the included runs.
    pub runs: Vec<u64>,
    /// Number of runs with a value of `iops` in each bucket.
    pub n: Vec<u32>,
    pub columns: Vec<BandColumn>,
}

/// One value per bucket. The value of a run is its mean, as in `SeriesColumn`. Null if fewer than
/// half of the group's runs have a value, because they ended earlier or completed no I/O.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct BandColumn {
    pub name: BandMetric,
    pub unit: Unit,
    /// Median of the runs' results.
    pub whole: Option<f64>,
    /// Median of the runs.
    pub median: Vec<Option<f64>>,
    /// Lowest value of a run; null for fewer than two values.
    pub low: Vec<Option<f64>>,
    /// Highest value of a run; null for fewer than two values.
    pub high: Vec<Option<f64>>,
}

/// A metric over all directions of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BandMetric {
    /// Reads, writes and trims per second.
    Iops,
    /// p99 latency of all directions.
    LatP99Ns,
    /// Bytes read and written per second.
    BytesPerSecond,
}

/// Number of heat map rows per doubling of the latency, small enough that seven decades of
/// latencies remain readable.
const ROWS_PER_DOUBLING: f64 = 4.0;

/// The row of a latency in a heat map. Row `r` starts at 2^(r/4) ns.
pub fn latency_row(ns: u64) -> u32 {
    ((ns.max(1) as f64).log2() * ROWS_PER_DOUBLING) as u32
}

/// One value per bucket; null if there is no sample or the metric is not available.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SeriesColumn {
    #[schema(value_type = SeriesColumnName)]
    pub name: String,
    pub unit: Unit,
    /// Minimum across the sampling windows.
    pub min: Vec<Option<f64>>,
    /// Counts per second, percentiles of the merged histogram, or time-weighted means of gauges.
    pub mean: Vec<Option<f64>>,
    /// Maximum across the sampling windows.
    pub max: Vec<Option<f64>>,
}
