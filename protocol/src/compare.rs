//! Comparison of runs.

use crate::{
    gauge::GaugeReport,
    metrics::{Better, ComparedMetricName, Unit},
    report::{device::DeviceReport, stats::DirectionStats},
    run::RunSummary,
    verdict::Verdicts,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// 2 to 8 run numbers, separated by commas.
    pub runs: String,
    /// Number of the baseline run. Default: the first one.
    pub baseline: Option<u64>,
}

/// Comparison of 2 to 8 runs. Lists of values are in the order of `runs`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Comparison {
    /// Number of the baseline run.
    pub baseline: u64,
    pub runs: Vec<ComparedRun>,
    pub metrics: Vec<ComparedMetric>,
    pub setting_differences: Vec<Difference>,
    /// Number of equal settings.
    pub equal_settings: u64,
    pub host_differences: Vec<Difference>,
    /// Number of equal host facts.
    pub equal_host_facts: u64,
    pub comparable: Comparable,
    pub confidence: Confidence,
}

/// A run in a comparison. Without a report, all fields but `run` are null.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ComparedRun {
    pub run: RunSummary,
    /// Length of the measured window.
    pub duration_ms: Option<f64>,
    pub read: Option<DirectionStats>,
    pub write: Option<DirectionStats>,
    pub trim: Option<DirectionStats>,
    pub device: Option<DeviceReport>,
    pub verdict: Option<Verdicts>,
    /// Depth gauge; null in runs recorded before it existed.
    pub gauge: Option<GaugeReport>,
    /// CPU time of the runner per I/O.
    pub cpu_ns_per_io: Option<f64>,
    /// The run has a CPU profile for `GET /compare/flame.svg`.
    pub profiled: bool,
}

/// A metric of all runs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ComparedMetric {
    #[schema(value_type = ComparedMetricName)]
    pub name: String,
    pub unit: Unit,
    /// Null if neither direction is better.
    pub better: Option<Better>,
    pub values: Vec<Option<f64>>,
    /// The value is a lower bound, because I/Os were in flight at the end of the run.
    pub at_least: Vec<bool>,
    /// Percentage change from the baseline; null for the baseline, without both values, or if the
    /// baseline is a lower bound. A lower bound if the value is one.
    pub change_percent: Vec<Option<f64>>,
}

/// A setting or host fact that is not equal in all runs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Difference {
    /// Such as `jobs[0].bs`.
    pub name: String,
    pub values: Vec<Option<String>>,
}

/// Whether the runs are comparable.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Comparable {
    /// Same workload on the same target of the same host.
    pub same_test: bool,
    pub sentence: String,
    /// Why the runs are not comparable.
    pub reasons: Vec<String>,
    /// A rerun that would be comparable; null if none is known.
    pub rerun: Option<Rerun>,
}

/// A run with changed options.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Rerun {
    /// Number of the original run.
    pub run: u64,
    /// Button label.
    pub label: String,
    /// Options to change in every job.
    pub patch: BTreeMap<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceLevel {
    /// Each result is a single run, so the noise is unknown.
    None,
}

/// Confidence in the differences.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Confidence {
    pub level: ConfidenceLevel,
    pub sentence: String,
}
