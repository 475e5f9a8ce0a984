//! Plan of a study: its runs are planned in order, with sizes scaled to the host and the files that
//! earlier steps leave. Accesses the host only through `HostView`.

pub(crate) mod scaling;
#[cfg(test)]
pub(crate) mod tests;

use crate::plan::{host_view::HostView, projected_files::ProjectedFiles, resolve_after};
use leadline_protocol::{
    job::run_spec::{RunSpec, parse_run},
    plan::Plan,
    study::{
        plan::{StepPlan, StudyPlan},
        spec::StudySpec,
    },
};
use serde_json::{Value, json};

/// Replaced by the file ID of the study in file names.
const FILE_ID_PLACEHOLDER: &str = "$study";

pub(crate) fn resolve(study: &StudySpec, host: &dyn HostView) -> StudyPlan {
    let file_id = format!("{:016x}", host.entropy());
    let scaled = scaling::scale(study, host);
    let mut files = ProjectedFiles::default();
    let mut steps = Vec::new();
    let mut problems = Vec::new();
    let mut confirmations = Vec::new();
    for (index, step) in study.steps.iter().enumerate() {
        let mut jobs = Vec::new();
        for (job, parsed) in step.jobs.iter().zip(&step.run.jobs) {
            jobs.push(insert_file_id(scaled.scale_job(job, parsed), &file_id));
        }
        let run = json!({"jobs": jobs, "sample_ms": step.run.sample_ms, "study": file_id});
        let mut plan = match parse_run(&run) {
            Ok(run) => {
                let run = RunSpec {
                    confirm: study.confirm.clone(),
                    ..run
                };
                resolve_after(&files, &run, host)
            }
            Err(problems) => Plan::rejected(problems),
        };
        files.apply(&plan);
        confirmations.extend_from_slice(&plan.confirmations);
        for problem in plan.problems.drain(..) {
            problems.push(problem.with_path_prefix(&format!("steps[{index}].")));
        }
        steps.push(StepPlan {
            name: step.name.clone(),
            note: step.note.clone(),
            jobs,
            plan,
        });
    }
    StudyPlan {
        description: study.description.clone(),
        continue_on_failure: study.continue_on_failure,
        file_id,
        scaled,
        confirmations,
        steps,
        problems,
    }
}

fn insert_file_id(mut job: Value, file_id: &str) -> Value {
    for option in ["filename", "directory"] {
        if let Some(text) = job[option].as_str() {
            job[option] = text.replace(FILE_ID_PLACEHOLDER, file_id).into();
        }
    }
    job
}
