//! Comparisons of runs and of groups of repeated runs.

use crate::{
    gauge::GaugeReport,
    limits::ThresholdPercent,
    metrics::{Better, ComparedMetricName, Unit},
    named_enum::named_enum,
    report::{device::DeviceReport, stats::DirectionStats},
    run::RunSummary,
    verdict::Verdicts,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Either `runs`, or the groups `a` to `h`. A group is a list of run numbers (`12,13`), a study
/// (`study:12`), the repeats of one of its steps (`study:12/step:1`), or a history filter
/// (`tag:before rw:randread`).
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// 2 to 8 run numbers, separated by commas. Each run is a group.
    pub runs: Option<String>,
    /// Letter of the baseline group, or the number of a run in it. Default: the first group.
    pub baseline: Option<String>,
    pub a: Option<String>,
    pub b: Option<String>,
    pub c: Option<String>,
    pub d: Option<String>,
    pub e: Option<String>,
    pub f: Option<String>,
    pub g: Option<String>,
    pub h: Option<String>,
    /// Smallest change that matters, in percent. Default: the value in the settings, or 2.
    #[param(value_type = Option<ThresholdPercent>)]
    pub threshold: Option<f64>,
}

/// Comparison of 2 to 8 groups.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Comparison {
    /// All runs, ordered by group.
    pub runs: Vec<ComparedRun>,
    #[serde(flatten)]
    pub assessment: Assessment,
}

/// The assessment of a comparison, without the results of individual runs. The lists `values` and
/// `at_least` have one item per run, ordered by group; lists of group values are in group order.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Assessment {
    pub groups: Vec<ComparedGroup>,
    /// Index of the baseline group.
    pub baseline: u64,
    /// Smallest change that matters, in percent, for metrics without a separate threshold.
    pub threshold_percent: f64,
    /// Confidence level of all intervals of changes, in percent: 95, or higher for the steps of a
    /// study with `until_decided`.
    pub confidence_percent: f64,
    pub comparability: Comparability,
    /// One sentence per group except the baseline, with the result of the comparison.
    pub answers: Vec<String>,
    pub metrics: Vec<ComparedMetric>,
    pub setting_differences: Vec<Difference>,
    /// Number of settings that are equal in all runs.
    pub equal_settings: u64,
    /// A value that a run did not record is `unknown`.
    pub host_differences: Vec<Difference>,
    /// Number of host facts that are equal in all runs.
    pub equal_host_facts: u64,
    /// Verdict classes and findings that are not the same in all runs.
    pub result_differences: Vec<Difference>,
}

/// Runs that are treated as repeats of the same test.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ComparedGroup {
    /// For example, `#12`, `before`, or the name of a step.
    pub label: String,
    /// Labels of the group's runs.
    pub runs: Vec<String>,
    /// Distinct workloads of the runs, such as `randread · 4 KiB · depth 32 · 1 worker · direct ·
    /// io_uring · /data/t1 (1 GiB) on vda`.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// Distinct hosts of the runs, such as `db1 (Linux 6.18.44, AMD EPYC 7B13)`.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Start of the measured window of the first run, as a Unix time in ms; null if there is no
    /// result.
    #[serde(default)]
    pub first_started_at_ms: Option<u64>,
    /// Start of the measured window of the last run, as a Unix time in ms; null if there is no
    /// result.
    #[serde(default)]
    pub last_started_at_ms: Option<u64>,
    /// Number of runs that are included in the statistics.
    pub complete: u64,
    /// Indices in `runs` of the runs that are excluded: incomplete runs, and the first write to a
    /// file that the other runs overwrite.
    pub excluded: Vec<u64>,
    /// Why the group is not comparable with the baseline; null if it is, and for the baseline.
    pub obstacle: Option<String>,
}

/// A run in a comparison. If it has no report, `profiled` is false, and all other fields except
/// `run` and `group` are null.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ComparedRun {
    pub run: RunSummary,
    /// Index of the run's group.
    pub group: u64,
    /// Length of the measured window.
    pub duration_ms: Option<f64>,
    pub read: Option<DirectionStats>,
    pub write: Option<DirectionStats>,
    pub trim: Option<DirectionStats>,
    pub device: Option<DeviceReport>,
    pub verdict: Option<Verdicts>,
    /// Depth gauge; null for runs recorded before it was introduced.
    pub gauge: Option<GaugeReport>,
    /// CPU time of the runner per I/O.
    pub cpu_ns_per_io: Option<f64>,
    /// Whether the run has a CPU profile for `GET /compare/flame.svg`.
    pub profiled: bool,
}

/// A metric in all runs and groups.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ComparedMetric {
    #[schema(value_type = ComparedMetricName)]
    pub name: String,
    pub unit: Unit,
    /// Null if neither direction is better.
    pub better: Option<Better>,
    /// Smallest change that matters, in percent.
    pub threshold_percent: f64,
    pub values: Vec<Option<f64>>,
    /// Whether each value is a lower bound, because I/Os were in flight at the end of the run.
    pub at_least: Vec<bool>,
    pub groups: Vec<GroupStatistics>,
    /// Change of each group from the baseline; null for the baseline itself, and if either value is
    /// missing.
    pub changes: Vec<Option<Change>>,
}

/// Statistics of a metric over the complete runs of a group.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct GroupStatistics {
    /// Number of values.
    pub n: u64,
    pub median: Option<f64>,
    /// 95 % confidence interval of the median; null for fewer than 6 values.
    pub interval: Option<Interval>,
    /// (largest − smallest) / median, in percent; null for fewer than 2 values.
    pub spread_percent: Option<f64>,
    /// Labels of runs that are more than 1.5 interquartile ranges outside the quartiles. They are
    /// included in the statistics.
    pub outliers: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// Change of a metric from the baseline. It is a lower bound if either value is one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Change {
    /// Hodges–Lehmann estimate of the ratio, as a percentage change; the change in the median if
    /// the metric is not tested.
    pub percent: f64,
    /// Confidence interval of the percentage change; null if there are too few runs, or if the
    /// metric is not tested.
    pub interval_percent: Option<Interval>,
    /// p-value of the null hypothesis that the metric did not change, corrected for all tested
    /// metrics (Holm); null if the metric is not tested.
    pub p_value: Option<f64>,
    /// Null if the metric is not tested.
    pub verdict: Option<ChangeVerdict>,
    /// Why the verdict is `undecided` or `not_comparable`.
    pub reason: Option<String>,
    /// Whether the runs were compared in pairs.
    pub paired: bool,
    /// Number of values of the baseline, or number of pairs.
    pub baseline_n: u64,
    /// Number of values of the group, or number of pairs.
    pub n: u64,
    /// Estimate of the additional repeats that a verdict requires; null if the verdict is not
    /// `undecided`, or if no reasonable number of repeats is enough.
    pub more: Option<MoreRepeats>,
}

/// Additional repeats that would decide a comparison with a probability of about 80 %, estimated
/// from the variance so far.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct MoreRepeats {
    /// Pairs, or runs per group.
    pub repeats: u64,
    /// How long they take, from the start to the end of the runs.
    pub duration_ms: f64,
}

named_enum! {
    names: "snake_case";
    /// Verdict on a metric's change.
    pub enum ChangeVerdict {
        Better,
        Worse,
        /// The confidence interval of the change is within the threshold.
        Equivalent,
        /// There are too few runs, or their results vary too much.
        Undecided,
        NotComparable,
    }
}

/// A setting, host fact or result property that is not equal in all runs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Difference {
    /// For example, `bs`, or `jobs[1].bs` for the second job.
    pub name: String,
    pub values: Vec<Option<String>>,
    /// Whether this difference alone can change the results.
    pub is_harmful: bool,
}

named_enum! {
    names: "snake_case";
    /// Whether the numbers of different groups may be compared.
    pub enum ComparabilityLevel {
        /// Same workload, same state and same host.
        Comparable,
        /// The listed differences may explain changes in the results.
        WithDifferences,
        NotComparable,
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Comparability {
    pub level: ComparabilityLevel,
    pub sentence: String,
    /// Why groups are not comparable, why runs are excluded, and which facts were not compared.
    pub reasons: Vec<String>,
    /// A rerun whose result would be comparable; null if none is known.
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
