use crate::metrics::{SeriesColumnName, Unit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A run's samples in buckets. Times are milliseconds from the start of the measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Series {
    /// Number of the run.
    pub run: u64,
    /// Where the first bucket begins.
    pub from_ms: f64,
    /// Where the last bucket ends.
    pub to_ms: f64,
    /// Length of one bucket; a whole number of sampling windows.
    pub bucket_ms: f64,
    /// Where each bucket ends.
    pub t_ms: Vec<f64>,
    /// The columns; each as long as `t_ms`.
    pub columns: Vec<SeriesColumn>,
}

/// One measure over time; null where a bucket has no sample, or where the measure is not available.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SeriesColumn {
    #[schema(value_type = SeriesColumnName)]
    pub name: String,
    pub unit: Unit,
    /// Smallest value of a sampling window in the bucket.
    pub min: Vec<Option<f64>>,
    /// The value of the whole bucket: counts over its time, percentiles of its merged histogram, gauges averaged over time.
    pub mean: Vec<Option<f64>>,
    /// Largest value of a sampling window in the bucket.
    pub max: Vec<Option<f64>>,
}
