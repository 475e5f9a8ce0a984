//! Study plan with its steps, confirmations, notes and problems.

use crate::{
    import::Import,
    plan::{Confirmation, Plan},
    problem::Problem,
    study::{
        definition::SweepValue, description::StudyDescription, procedure::Procedure,
        scaling::Scaled, until_decided::UntilDecided,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The plan of a study, with sizes scaled to the host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StudyPlan {
    /// How the imported text was interpreted; null for studies in JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<Import>,
    #[serde(flatten)]
    pub description: StudyDescription,
    pub continue_on_failure: bool,
    /// Replaces `$study` in file names.
    pub file_id: String,
    pub scaled: Scaled,
    /// Targets with data that the study would overwrite. Each step has a separate code.
    #[serde(default)]
    pub confirmations: Vec<Confirmation>,
    /// Seed for the order of repeated steps.
    #[serde(default)]
    pub order_seed: u64,
    /// Maximum time that each run waits until its devices are idle, in seconds.
    #[serde(default)]
    pub idle_wait_seconds: u32,
    /// Null if the study runs all repeats.
    #[serde(default)]
    pub until_decided: Option<UntilDecided>,
    /// Procedure that defines the runs; null if the steps define them.
    #[serde(default)]
    pub procedure: Option<Procedure>,
    /// What to expect from the study: duration, written data, deviations from a specification.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The runs, in order. Empty if the study could not be parsed.
    pub steps: Vec<StepPlan>,
    /// Problems in all steps, with paths such as `steps[2].jobs[0].bs`; empty if the study can
    /// start.
    pub problems: Vec<Problem>,
}

/// The plan of a step, based on the state in which earlier steps leave the host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StepPlan {
    /// One-based.
    pub step: u32,
    /// One-based.
    pub repeat: u32,
    /// Values of the swept options; empty if there is no sweep.
    #[serde(default)]
    pub sweep: Vec<SweepValue>,
    pub name: String,
    pub note: Option<String>,
    /// The run's jobs, including the state, scaled sizes and final file names. Invalid values are
    /// unchanged from the request, and listed in the problems.
    #[schema(value_type = Vec<Object>)]
    pub jobs: Vec<Value>,
    /// The plan of the run. Its problems are listed in the study's problems.
    pub plan: Plan,
}

impl StepPlan {
    /// The run as input for [`crate::job::run_spec::parse_run`].
    pub fn run(&self, file_id: &str, idle_wait_seconds: u32) -> Value {
        json!({"jobs": self.jobs, "sample_ms": self.plan.sample_ms, "study": file_id, "idle_wait_seconds": idle_wait_seconds})
    }
}

impl StudyPlan {
    /// Whether a failed run is retried once.
    pub fn retries_failed_runs(&self) -> bool {
        self.procedure.is_some() || self.steps.iter().any(|step| step.repeat > 1)
    }

    /// The plan of a study that could not be parsed.
    pub fn rejected(problems: Vec<Problem>) -> Self {
        Self {
            import: None,
            description: StudyDescription::default(),
            continue_on_failure: false,
            file_id: String::new(),
            scaled: Scaled::unscaled(0),
            confirmations: Vec::new(),
            order_seed: 0,
            until_decided: None,
            idle_wait_seconds: 0,
            procedure: None,
            notes: Vec::new(),
            steps: Vec::new(),
            problems,
        }
    }
}
