//! A study with its steps.

use crate::{
    compare::{Comparison, GroupStatistics},
    run::{Run, RunSummary},
    series::GroupSeries,
    study::{
        definition::{RepeatOrder, StudyDefinition, SweepValue},
        description::Published,
        files::LeftoverFile,
        procedure::{Procedure, ProcedureResults},
        scaling::Scaled,
        summary::StudySummary,
        until_decided::{Look, UntilDecided},
    },
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A study with its steps, but without the run reports.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Study {
    #[serde(flatten)]
    pub summary: StudySummary,
    /// Purpose, in one paragraph.
    pub about: Option<String>,
    /// What the author of the published results overlooked, in one sentence.
    pub missed_by_author: Option<String>,
    /// Published results to compare with.
    pub published: Option<Published>,
    pub scaled: Scaled,
    pub continue_on_failure: bool,
    /// Number of times each step runs.
    pub repeats: u32,
    pub order: RepeatOrder,
    /// Seed for the order of repeated steps; null in studies that were stored before steps could be
    /// repeated.
    pub order_seed: Option<u64>,
    /// Maximum time that each run waits until its devices are idle, in seconds.
    pub idle_wait_seconds: u32,
    /// Null if the study runs all repeats.
    pub until_decided: Option<UntilDecided>,
    /// Procedure that defines the runs; null if the steps define them. `GET /studies/{n}/procedure`
    /// has its results.
    pub procedure: Option<Procedure>,
    /// Why the remaining runs of a procedure were not needed.
    pub ended: Option<String>,
    /// Looks at the results so far, in order; a decided look is the last one.
    pub looks: Vec<Look>,
    /// Temporary files that could not be removed. The server retries when it starts.
    pub leftover_files: Vec<LeftoverFile>,
    /// The runs, in order.
    pub steps: Vec<StudyStep>,
    /// Results of each step across its completed repeats. Steps without completed repeats are
    /// omitted.
    pub results: Vec<StepStatistics>,
}

/// Results across the completed repeats of a step.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StepStatistics {
    /// One-based.
    pub step: u32,
    pub name: String,
    pub sweep: Vec<SweepValue>,
    /// All directions.
    pub iops: GroupStatistics,
    /// All directions.
    pub bytes_per_second: GroupStatistics,
    /// All directions.
    pub lat_p99_ns: GroupStatistics,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StudyStep {
    /// One-based.
    pub step: u32,
    /// One-based. If the order is `interleaved`, the runs of all steps with the same repeat number
    /// form a block.
    pub repeat: u32,
    /// Values of the swept options; empty if there is no sweep.
    pub sweep: Vec<SweepValue>,
    pub name: String,
    pub note: Option<String>,
    /// Null if the run was deleted.
    pub run: Option<RunSummary>,
    /// The failed or interrupted run, if `run` is its retry; otherwise null.
    pub failed_run: Option<RunSummary>,
    /// Verdict; null until it is available.
    pub sentence: Option<String>,
    /// Percentage change in IOPS from the median of the first completed step.
    pub iops_change_percent: Option<f64>,
}

/// A study that is built into the server.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Experiment {
    /// Stable ID, such as `003-readahead`.
    pub id: String,
    pub study: StudyDefinition,
}

/// Data of a saved page: a study that opens without a server.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SavedStudy {
    pub study: Study,
    /// Null if the study page shows no comparison of the steps.
    pub comparison: Option<Comparison>,
    pub procedure: Option<ProcedureResults>,
    /// The first run of each step; empty if the study page shows no depth gauges.
    pub runs: Vec<Run>,
    /// Time series of the compared groups; null if there is no comparison.
    pub series: Option<GroupSeries>,
    /// Unix time in milliseconds.
    pub saved_at_ms: u64,
    /// Version of the server.
    pub version: String,
}
