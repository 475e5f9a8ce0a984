//! A study with its steps.

use crate::{
    compare::GroupStatistics,
    run::RunSummary,
    study::{
        definition::{StudyDefinition, SweepValue},
        description::Published,
        files::LeftoverFile,
        scaling::Scaled,
        summary::StudySummary,
    },
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A study with its steps, without the reports of the runs.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Study {
    #[serde(flatten)]
    pub summary: StudySummary,
    /// Purpose, in one paragraph.
    pub about: Option<String>,
    /// What the author of the published results missed, in one sentence.
    pub missed_by_author: Option<String>,
    /// Published results to compare with.
    pub published: Option<Published>,
    pub scaled: Scaled,
    pub continue_on_failure: bool,
    /// How often each step runs.
    pub repeats: u32,
    /// Determines the order of repeated steps; null in studies that were stored before steps could
    /// be repeated.
    pub order_seed: Option<u64>,
    /// Temporary files that could not be removed; retried when the server starts.
    pub leftover_files: Vec<LeftoverFile>,
    /// The runs in order.
    pub steps: Vec<StudyStep>,
    /// The results of each step over its completed repeats; steps without any are left out.
    pub results: Vec<StepStatistics>,
}

/// Results of the completed repeats of a step.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StepStatistics {
    /// From 1.
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
    /// From 1.
    pub step: u32,
    /// From 1. The runs of all steps with the same number are a block.
    pub repeat: u32,
    /// Values of the swept options; empty without a sweep.
    pub sweep: Vec<SweepValue>,
    pub name: String,
    pub note: Option<String>,
    /// Null if the run was deleted.
    pub run: Option<RunSummary>,
    /// Verdict; null until it is known.
    pub sentence: Option<String>,
    /// Percentage change in IOPS from the first completed step.
    pub iops_change_percent: Option<f64>,
}

/// A study that is part of the server.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Experiment {
    /// Stable id, such as `003-readahead`.
    pub id: String,
    pub study: StudyDefinition,
}
