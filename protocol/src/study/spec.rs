//! A parsed study.

use crate::{
    job::run_spec::RunSpec,
    study::{
        definition::{RepeatOrder, SweepValue, UntilDecidedDefinition},
        description::StudyDescription,
        procedure::Procedure,
        scaling::Scale,
    },
};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct StudySpec {
    pub description: StudyDescription,
    pub continue_on_failure: bool,
    pub scale: Scale,
    /// At least 1.
    pub repeats: u32,
    pub order: RepeatOrder,
    pub until_decided: Option<UntilDecidedDefinition>,
    /// `None` for a random seed.
    pub order_seed: Option<u64>,
    /// See [`RunSpec::idle_wait_seconds`].
    pub idle_wait_seconds: u32,
    /// Procedure that defines the steps; `None` if the document lists them.
    pub procedure: Option<Procedure>,
    /// As in [`RunSpec::confirm`], for all steps.
    pub confirm: Vec<String>,
    /// Not empty.
    pub steps: Vec<StepSpec>,
}

/// A step. `state` has been merged into the options of its jobs.
#[derive(Clone, Debug)]
pub struct StepSpec {
    /// Index in the definition. The steps of a sweep share one index.
    pub definition: usize,
    /// Values of the swept options; empty if there is no sweep.
    pub sweep: Vec<SweepValue>,
    pub name: String,
    pub note: Option<String>,
    /// Job objects, as requested.
    pub jobs: Vec<Value>,
    /// Parsed `jobs`.
    pub run: RunSpec,
}
