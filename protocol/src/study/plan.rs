//! The plan of a study.

use crate::{
    job::Job,
    plan::{Confirmation, Plan},
    problem::Problem,
    study::{definition::SweepValue, description::StudyDescription, scaling::Scaled},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Plan of a study, with sizes scaled to the host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StudyPlan {
    #[serde(flatten)]
    pub description: StudyDescription,
    pub continue_on_failure: bool,
    /// Replaces `$study` in file names.
    pub file_id: String,
    pub scaled: Scaled,
    /// Targets with data that the study would destroy. Each step has a code of its own.
    #[serde(default)]
    pub confirmations: Vec<Confirmation>,
    /// Determines the order of repeated steps.
    #[serde(default)]
    pub order_seed: u64,
    /// The runs in order. Empty if the study could not be parsed.
    pub steps: Vec<StepPlan>,
    /// Problems of all steps, with paths such as `steps[2].jobs[0].bs`; empty if the study can
    /// start.
    pub problems: Vec<Problem>,
}

/// Plan of a step, based on the state in which earlier steps leave the host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StepPlan {
    /// From 1.
    pub step: u32,
    /// From 1.
    pub repeat: u32,
    /// Values of the swept options; empty without a sweep.
    #[serde(default)]
    pub sweep: Vec<SweepValue>,
    pub name: String,
    pub note: Option<String>,
    /// The jobs of the run, with the state, the scaled sizes and the final file names.
    #[schema(value_type = Vec<Job>)]
    pub jobs: Vec<Value>,
    /// Plan of the run; its problems are in the problems of the study.
    pub plan: Plan,
}

impl StepPlan {
    /// The run as input of [`crate::job::run_spec::parse_run`].
    pub fn run(&self, file_id: &str) -> Value {
        json!({"jobs": self.jobs, "sample_ms": self.plan.sample_ms, "study": file_id})
    }
}

impl StudyPlan {
    /// Plan of a study that could not be parsed.
    pub fn rejected(problems: Vec<Problem>) -> Self {
        Self {
            description: StudyDescription::default(),
            continue_on_failure: false,
            file_id: String::new(),
            scaled: Scaled::unscaled(0),
            confirmations: Vec::new(),
            order_seed: 0,
            steps: Vec::new(),
            problems,
        }
    }
}
