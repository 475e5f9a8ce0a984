//! Time series of a run.

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
    /// I/Os of all directions by latency, for a heat map: for each bucket, the used rows in ascending
    /// order with their numbers of I/Os. Null if not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_rows: Option<Vec<Vec<(u32, u64)>>>,
}

/// Rows of a heat map per doubling of the latency: readable over seven decades.
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
