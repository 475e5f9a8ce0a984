//! A study: an ordered set of runs started together, written as one JSON document. Here: its words, as asked and as
//! planned. `parse` reads the document, `scale` fits its sizes to the host, `left` is the host as the steps before will
//! have left it, `own` names the files that are the study's own. Pure.
//!
//! Not here: doing the steps one after the other (`command` on a terminal, the server's queue otherwise).

pub(crate) mod left;
pub(crate) mod scale;
#[cfg(test)]
pub(crate) mod tests;

use crate::plan::host_view::HostView;
use crate::plan::resolve as resolve_run;
use crate::plan::study::left::Left;
use leadline_protocol::job::parse::parse_run;
use leadline_protocol::plan::Plan;
use leadline_protocol::problem::Problem;
use leadline_protocol::study::StepPlan;
use leadline_protocol::study::StepSpec;
use leadline_protocol::study::StudyPlan;
use leadline_protocol::study::StudySpec;
use serde_json::{Value, json};

/// What stands in file names for the file_id of the study, so that every study has files of its own.
const MARK: &str = "$study";

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

/// A job whose files carry the file_id where their names ask for it.
fn marked(mut job: Value, file_id: &str) -> Value {
    for name in ["filename", "directory"] {
        if let Some(text) = job[name].as_str().filter(|text| text.contains(MARK)) {
            job[name] = text.replace(MARK, file_id).into();
        }
    }
    job
}
