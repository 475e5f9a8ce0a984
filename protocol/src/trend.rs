//! Trends: the results of a test on one machine over time, and their state relative to a baseline.

use crate::{
    compare::{Change, GroupStatistics},
    limits::{BaselineRuns, PageCursor, PageLimit, ThresholdPercent},
    metrics::{Better, ComparedMetricName, Unit},
    named_enum::named_enum,
    run::RunSummary,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TrendListQuery {
    /// Only series with a baseline. Default: false.
    pub pinned: Option<bool>,
    /// Page size, 1 to 200. Default: 50.
    #[param(value_type = Option<PageLimit>)]
    pub limit: Option<u32>,
    /// `next_cursor` from the previous page.
    #[param(value_type = Option<PageCursor>)]
    pub cursor: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TrendQuery {
    /// Default: the IOPS of the first direction that the runs have.
    #[param(value_type = Option<ComparedMetricName>)]
    pub metric: Option<String>,
    /// Smallest change that matters, in percent. Default: the value of the baseline or of the
    /// settings, or 2.
    #[param(value_type = Option<ThresholdPercent>)]
    pub threshold: Option<f64>,
}

/// A page of series, most recent runs first.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TrendList {
    pub series: Vec<TrendSeries>,
    /// Null on the last page.
    pub next_cursor: Option<u64>,
    /// Number of series across all pages.
    pub total: u64,
    /// Number of stored runs that are not in any series yet. They are added while no run is active.
    pub pending_runs: u64,
}

/// All runs of one test on one machine.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TrendSeries {
    pub job_fingerprint: String,
    pub machine_fingerprint: String,
    /// Host name; null if it is unknown.
    pub hostname: Option<String>,
    /// Number of runs, including those without a complete result.
    pub runs: u64,
    pub newest_run: RunSummary,
    /// Null if there is no baseline.
    pub baseline: Option<Baseline>,
    /// Null if there is no baseline.
    pub state: Option<SeriesState>,
}

/// The groups of a series, and the changes of one metric.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Trend {
    #[serde(flatten)]
    pub series: TrendSeries,
    #[schema(value_type = ComparedMetricName)]
    pub metric: String,
    pub unit: Unit,
    /// Null if neither direction is better.
    pub better: Option<Better>,
    /// Metrics that at least one run has.
    #[schema(value_type = Vec<ComparedMetricName>)]
    pub metrics: Vec<String>,
    /// Smallest change that matters, in percent.
    pub threshold_percent: f64,
    /// Statistics of the baseline's runs; null if there is no baseline.
    pub baseline_statistics: Option<GroupStatistics>,
    /// Ordered by first run.
    pub points: Vec<TrendPoint>,
    pub changes: Vec<TrendChange>,
    /// Findings about disturbances that most runs have, such as `foreign I/O`. They are a property
    /// of the test, so these runs are included.
    pub common_findings: Vec<String>,
    /// Number of excluded runs, by reason.
    pub excluded: Vec<ExclusionCount>,
    /// Number of runs before the first point, which are not shown.
    pub older_runs: u64,
}

/// A group of runs: the repeats of one step of a study, or the runs outside studies that started on
/// one day (UTC). All have the same host fingerprint.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TrendPoint {
    /// Start of the first run, as a Unix time in milliseconds.
    pub started_at_ms: u64,
    /// Null outside studies.
    pub study: Option<u64>,
    /// Null outside studies.
    pub step: Option<u32>,
    /// Runs with a value that is included in the statistics.
    pub runs: Vec<u64>,
    pub excluded: Vec<ExcludedRun>,
    pub statistics: GroupStatistics,
    /// Whether the median is a lower bound, because I/Os were in flight at the end of a run.
    pub at_least: bool,
    /// Changes since the previous point: host facts, and `verdict`, the layer that served the I/Os.
    pub host_changes: Vec<FactChange>,
}

named_enum! {
    names: "snake_case";
    /// Why a run is excluded from its group's statistics.
    pub enum ExclusionKind {
        /// Failed, cancelled, interrupted, or with a partial report.
        Incomplete,
        /// The stored result does not match its checksum.
        Damaged,
        /// A finding shows that something disturbed the run.
        Disturbed,
        /// The run has no value for the metric.
        NoValue,
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ExcludedRun {
    pub run: u64,
    pub kind: ExclusionKind,
    /// For example, `foreign I/O` or `failed`.
    pub reason: String,
    /// Value of the metric; null unless the run is complete.
    pub value: Option<f64>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ExclusionCount {
    pub kind: ExclusionKind,
    pub reason: String,
    pub runs: u64,
}

/// A host fact that changed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct FactChange {
    /// For example, `kernel`.
    pub name: String,
    /// Null if the host did not have it.
    pub before: Option<String>,
    /// Null if the host does not have it.
    pub after: Option<String>,
}

/// A change point: the first group at a new level. It is not a verdict.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TrendChange {
    /// Index in `points`.
    pub point: u64,
    /// Change from `mean_before` to `mean_after`, in percent; null if `mean_before` is 0.
    pub percent: Option<f64>,
    /// Null if neither direction is better.
    pub is_better: Option<bool>,
    /// p-value of Student's t-test, not corrected for the number of points.
    pub p_value: f64,
    /// Mean of the medians from the previous change point, or the start.
    pub mean_before: f64,
    /// Mean of the medians up to the next change point, or the end.
    pub mean_after: f64,
    /// Up to 50 runs before the change, on the host of the last point before it.
    pub runs_before: Vec<u64>,
    /// Up to 50 runs starting at the change, on the host of its point.
    pub runs_after: Vec<u64>,
}

/// Body of `PUT /trends/{job}/{machine}/baseline`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineRequest {
    /// 1 to 50 complete runs of the series, on the same host.
    #[schema(value_type = BaselineRuns)]
    pub runs: Vec<u64>,
    /// Smallest change that matters, in percent, 0.01 to 1,000. Default: the values in the
    /// settings, or 2.
    #[schema(value_type = Option<ThresholdPercent>)]
    pub threshold_percent: Option<f64>,
}

/// The group that a series is compared with.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Baseline {
    /// Runs that still exist.
    pub runs: Vec<u64>,
    /// Runs that have since been deleted.
    pub deleted_runs: Vec<u64>,
    /// Smallest change that matters, in percent; null: the value in the settings, or 2.
    pub threshold_percent: Option<f64>,
    /// Unix time in milliseconds.
    pub pinned_at_ms: u64,
}

named_enum! {
    names: "snake_case";
    /// State of a series relative to its baseline.
    pub enum TrendState {
        /// Equivalent to the baseline.
        Ok,
        Regressed,
        Improved,
        /// There are too few runs, or their results vary too much.
        Undecided,
        NotComparable,
    }
}

/// The newest group of a series compared with the baseline.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SeriesState {
    /// `not_comparable` if the groups are not comparable. Otherwise, the state of the headline
    /// metrics: `regressed` if one of them is, else `improved` if one is, `ok` if all are, and
    /// `undecided` otherwise.
    pub state: TrendState,
    /// The result of the comparison as sentences, or why there is none.
    pub reason: String,
    /// The compared runs; empty if there was no comparison.
    pub runs: Vec<u64>,
    pub metrics: Vec<MetricState>,
}

/// State of a tested metric.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct MetricState {
    #[schema(value_type = ComparedMetricName)]
    pub metric: String,
    pub state: TrendState,
    /// Whether it is a headline metric, which determines the state of the series: IOPS and p99
    /// latencies that can be tested.
    pub is_headline: bool,
    pub change: Change,
}
