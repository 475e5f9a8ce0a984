//! Time series of a run.

use crate::metrics::{SeriesColumnName, Unit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Samples in buckets. Times are milliseconds since the start of the measured window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Series {
    /// Number of the run.
    pub run: u64,
    /// Start of the first bucket.
    pub from_ms: f64,
    /// End of the last bucket.
    pub to_ms: f64,
    /// Length of a bucket; a multiple of the sampling interval.
    pub bucket_ms: f64,
    /// End of each bucket.
    pub t_ms: Vec<f64>,
    pub columns: Vec<SeriesColumn>,
}

/// One value per bucket; null without a sample, or if the metric is not available.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SeriesColumn {
    #[schema(value_type = SeriesColumnName)]
    pub name: String,
    pub unit: Unit,
    /// Minimum of the sampling windows.
    pub min: Vec<Option<f64>>,
    /// Counts per second, percentiles of the merged histogram, or time-weighted mean of gauges.
    pub mean: Vec<Option<f64>>,
    /// Maximum of the sampling windows.
    pub max: Vec<Option<f64>>,
}
