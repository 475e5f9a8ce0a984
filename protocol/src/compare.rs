//! The words of a comparison on the HTTP interface.

use crate::counters::StorageIo;
use crate::gauge::GaugeReport;
use crate::metrics::{Better, ComparedMetricName, Unit};
use crate::report::{DeviceReport, DirectionStats};
use crate::run::RunSummary;
use crate::verdict::Verdicts;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Which runs to compare.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// 2 to 8 numbers of runs, separated by commas.
    pub runs: String,
    /// The number that the others are measured against; the first one when nothing is said.
    pub baseline: Option<u64>,
}

/// 2 to 8 runs side by side. Lists of values stand in the order of `runs`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    /// Number of the run that the others are measured against.
    pub baseline: u64,
    /// The runs.
    pub runs: Vec<ComparedRun>,
    /// Their numbers.
    pub metrics: Vec<ComparedMetric>,
    /// Settings that are not alike.
    pub setting_differences: Vec<Difference>,
    /// How many settings are alike.
    pub equal_settings: u64,
    /// Facts about the host that are not alike.
    pub host_differences: Vec<Difference>,
    /// How many facts about the host are alike.
    pub equal_host_facts: u64,
    /// Whether they may be compared at all.
    pub comparable: Comparable,
    /// How sure the differences are.
    pub confidence: Confidence,
}

/// One of the runs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ComparedRun {
    /// The run.
    pub run: RunSummary,
    /// Length of its measured window in milliseconds; null without a report, as are all that follow.
    pub duration_ms: Option<f64>,
    /// Reads.
    pub read: Option<DirectionStats>,
    /// Writes.
    pub write: Option<DirectionStats>,
    /// Trims.
    pub trim: Option<DirectionStats>,
    /// What the block device counted.
    pub device: Option<DeviceReport>,
    /// What the runner alone moved from and to storage.
    pub storage: Option<StorageIo>,
    /// Depth gauge; null in runs recorded before it existed.
    pub gauge: Option<GaugeReport>,
    /// Where the I/O went.
    pub verdict: Option<Verdicts>,
    /// Processor time of the runner in ns per I/O.
    pub cpu_ns_per_io: Option<f64>,
    /// Whether its stacks were taken, so that `GET /compare/flame.svg` can draw them.
    pub profiled: bool,
}

/// One number of all runs.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, ToSchema)]
pub struct ComparedMetric {
    #[schema(value_type = ComparedMetricName)]
    pub name: String,
    pub unit: Unit,
    /// Which way it is better; null when neither.
    pub better: Option<Better>,
    /// The value of each run; null where it has none.
    pub values: Vec<Option<f64>>,
    /// How far each lies from the baseline, in percent of it; null for the baseline itself, or where it cannot be said.
    pub change_percent: Vec<Option<f64>>,
}

/// A setting or fact that is not alike in all runs.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, ToSchema)]
pub struct Difference {
    /// Its name, such as `jobs[0].bs`.
    pub name: String,
    /// The value of each run as text; null where it has none.
    pub values: Vec<Option<String>>,
}

/// Whether runs may be compared at all.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, ToSchema)]
pub struct Comparable {
    /// Whether they did the same work on the same target of the same host.
    pub same_test: bool,
    /// What that means for the reader.
    pub sentence: String,
    /// What is in the way, one sentence each.
    pub reasons: Vec<String>,
    /// The rerun that would be comparable; null where none is known.
    pub rerun: Option<Rerun>,
}

/// A run done again with options changed.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, ToSchema)]
pub struct Rerun {
    /// Number of the run.
    pub run: u64,
    /// What a button for it says.
    pub label: String,
    /// The options that change in every job.
    pub patch: BTreeMap<String, Value>,
}

/// How sure a difference is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, Eq, PartialEq, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceLevel {
    /// Nothing can be said: there is one run of each.
    None,
}

/// How sure the differences are.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, ToSchema)]
pub struct Confidence {
    /// In one word.
    pub level: ConfidenceLevel,
    /// In one sentence.
    pub sentence: String,
}
