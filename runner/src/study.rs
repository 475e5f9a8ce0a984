//! A study: an ordered set of runs started together, written as one JSON document. Here: its words, as asked and as
//! planned. `parse` reads the document, `scale` fits its sizes to the host, `left` is the host as the steps before will
//! have left it, `own` names the files that are the study's own. Pure.
//!
//! Not here: doing the steps one after the other (`command` on a terminal, the server's queue otherwise).

mod left;
mod own;
mod parse;
mod scale;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::job::{Job, RunSpec, parse_run};
use crate::plan::{HostView, Plan, resolve as resolve_run};
use crate::problem::Problem;
use left::Left;

pub use own::{CleanupResult, LeftoverFile, OwnedFiles};
pub use parse::{MAX_STEPS, is_study, parse_study};
pub use scale::{Scale, Scaled};

/// What stands in file names for the file_id of the study, so that every study has files of its own.
const MARK: &str = "$study";

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

/// What would happen if this were done on that host. What is in the way of any step stands in `problems`, all of it at
/// once.
pub fn resolve(ask: &StudySpec, host: &dyn HostView) -> StudyPlan {
    let file_id = format!("{:016x}", host.entropy());
    let scaled = scale::fit(ask, host);
    let mut left = Left::new(host);
    let (mut steps, mut problems) = (Vec::new(), Vec::new());
    for (index, step) in ask.steps.iter().enumerate() {
        let jobs = step
            .jobs
            .iter()
            .zip(&step.ask.jobs)
            .map(|(job, read)| marked(scaled.job(job, read), &file_id))
            .collect();
        let (plan, refused) = plan_step(step, &jobs, &file_id, &mut left);
        problems.extend(
            refused
                .into_iter()
                .map(|problem| problem.inside(&format!("steps[{index}]."))),
        );
        steps.push(StepPlan {
            name: step.name.clone(),
            note: step.note.clone(),
            jobs,
            plan,
        });
    }
    let (words, continue_on_failure) = (ask.words.clone(), ask.continue_on_failure);
    StudyPlan {
        words,
        continue_on_failure,
        file_id,
        scaled,
        steps,
        problems,
    }
}

fn plan_step(
    step: &StepSpec,
    jobs: &Vec<Value>,
    file_id: &str,
    left: &mut Left,
) -> (Plan, Vec<Problem>) {
    // They were read before; a size that was fitted or a name that was marked is read as easily.
    let again =
        parse_run(&json!({"jobs": jobs, "sample_ms": step.ask.sample_ms, "study": file_id}));
    let mut plan = match &again {
        Ok(ask) => resolve_run(ask, left),
        Err(problems) => Plan::refused(problems.clone()),
    };
    left.leave(&plan);
    let problems = std::mem::take(&mut plan.problems);
    (plan, problems)
}

/// The plan of a study that could not even be read.
pub fn refused(problems: Vec<Problem>) -> StudyPlan {
    let (words, file_id, scaled) = (
        StudyDescription::default(),
        String::new(),
        Scaled::as_asked(0),
    );
    StudyPlan {
        words,
        continue_on_failure: false,
        file_id,
        scaled,
        steps: Vec::new(),
        problems,
    }
}

/// A job whose files carry the file_id where their names ask for it.
fn marked(mut job: Value, file_id: &str) -> Value {
    for name in ["filename", "directory"] {
        if let Some(text) = job[name].as_str().filter(|text| text.contains(MARK)) {
            job[name] = text.replace(MARK, file_id).into();
        }
    }
    job
}

#[cfg(test)]
mod tests;
