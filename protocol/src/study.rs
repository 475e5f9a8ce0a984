pub mod document;
pub mod own;
pub mod parse;
pub mod record;
pub mod scaling;

use crate::job::Job;
use crate::job::parse::RunSpec;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::study::scaling::{Scale, Scaled};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A study as asked.
#[derive(Clone, Debug)]
pub struct StudySpec {
    /// What it says about itself.
    pub words: StudyDescription,
    /// Whether a step that fails leaves the others be.
    pub continue_on_failure: bool,
    /// How its sizes are fitted to the host.
    pub scale: Scale,
    /// Its steps in order; at least one.
    pub steps: Vec<StepSpec>,
}

/// One step as asked: a run, and the state wanted before it already among the options of its jobs.
#[derive(Clone, Debug)]
pub struct StepSpec {
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub note: Option<String>,
    /// Its jobs, word for word.
    pub jobs: Vec<Value>,
    /// The same as read.
    pub ask: RunSpec,
}

/// What a study says about itself.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StudyDescription {
    /// Its name.
    pub name: String,
    /// Why it is worth doing, in one paragraph.
    pub about: Option<String>,
    /// What the author of the published figures had to find out by hand, in one sentence.
    pub missed_by_author: Option<String>,
    /// Figures that others got, to stand beside those from here.
    pub published: Option<Published>,
}

/// A table of figures that others got.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Where they stand, and on what they were measured.
    pub source: String,
    /// The heads of the columns, with their units.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<PublishedRow>,
}

/// One row of published figures.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// The step that does the same here, from 1; null when none does.
    pub step: Option<u32>,
    /// One cell a column, as published.
    pub cells: Vec<String>,
}

/// What a study would do, with its sizes fitted to this host. Nothing is touched.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StudyPlan {
    /// What it says about itself.
    #[serde(flatten)]
    pub words: StudyDescription,
    /// Whether a step that fails leaves the others be.
    pub continue_on_failure: bool,
    /// The file_id of its files, which stands for `$study` in their names.
    pub file_id: String,
    /// How its sizes were fitted to the host.
    pub scaled: Scaled,
    /// Its steps in order; empty when the document could not be read.
    pub steps: Vec<StepPlan>,
    /// What is in the way of any step, each with its place, such as `steps[2].jobs[0].bs`; empty when it may start.
    pub problems: Vec<Problem>,
}

/// What one step would do, on the host as the steps before will have left it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StepPlan {
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub note: Option<String>,
    /// Its jobs as they will be asked: with the state wanted before, the sizes that fit, and file names of its own.
    #[schema(value_type = Vec<Job>)]
    pub jobs: Vec<Value>,
    /// The plan of its run; its problems stand with the study's.
    pub plan: Plan,
}

impl StepPlan {
    /// The run as `parse_run` reads it.
    pub fn run(&self, file_id: &str) -> Value {
        json!({"jobs": self.jobs, "sample_ms": self.plan.sample_ms, "study": file_id})
    }
}

impl StudyPlan {
    /// The plan of a study that could not be parsed.
    pub fn rejected(problems: Vec<Problem>) -> Self {
        Self {
            words: StudyDescription::default(),
            continue_on_failure: false,
            file_id: String::new(),
            scaled: Scaled::as_asked(0),
            steps: Vec::new(),
            problems,
        }
    }
}
