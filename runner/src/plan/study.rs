//! Plans a study: its runs are planned in order, with sizes scaled to the host and with the files
//! that earlier steps leave. Accesses the host only through `HostView`.

mod first_write;
mod order;
mod procedure;
pub(crate) mod scaling;
#[cfg(test)]
pub(crate) mod tests;
mod until_decided;

use crate::plan::{
    host_view::HostView,
    projected_files::ProjectedFiles,
    resolve_after,
    study::{
        order::{StepRun, step_runs, with_seed},
        until_decided::until_decided,
    },
};
use leadline_protocol::{
    job::run_spec::{RunSpec, parse_run},
    plan::{Confirmation, Plan},
    problem::Problem,
    study::{
        definition::MAX_SEED,
        plan::{StepPlan, StudyPlan},
        procedure::Procedure,
        spec::{StepSpec, StudySpec},
    },
};
use serde_json::{Value, json};

/// Replaced with the study's file ID in `filename` and `directory`.
const FILE_ID_PLACEHOLDER: &str = "$study";

pub(crate) fn resolve(study: &StudySpec, host: &dyn HostView) -> StudyPlan {
    let file_id = format!("{:016x}", host.entropy());
    let scaled = scaling::scale(study, host);
    let order_seed = study
        .order_seed
        .unwrap_or_else(|| host.entropy() & MAX_SEED);
    let mut files = ProjectedFiles::default();
    let mut steps = Vec::new();
    let mut problems = Vec::new();
    let mut confirmations = Vec::new();
    let until_decided = until_decided(study).unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    for step_run in step_runs(study.steps.len(), study.repeats, study.order, order_seed) {
        let step = &study.steps[step_run.step];
        let mut jobs = Vec::new();
        for (job, parsed) in step.jobs.iter().zip(&step.run.jobs) {
            let mut job = insert_file_id(scaled.scale_job(job, parsed), &file_id);
            if study.repeats > 1 {
                job = with_seed(job, parsed, step_run.repeat, order_seed);
            }
            jobs.push(job);
        }
        let mut plan = plan_run(study, step, &jobs, &file_id, &files, host);
        files.apply(&plan);
        if study.repeats > 1 {
            first_write::add_findings(&mut plan, step_run.repeat);
        }
        confirmations.extend_from_slice(&plan.confirmations);
        for problem in plan.problems.drain(..) {
            let problem = problem.with_path_prefix(&format!("steps[{}].", step.definition));
            let problem = step.located(problem);
            // All repeats of a step have the same problems, which are reported only once.
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        steps.push(step_plan(step, step_run, jobs, plan));
    }
    let procedure = study.procedure.clone().map(|mut procedure| {
        if let Procedure::LoadCurve(curve) = &mut procedure {
            curve.base = insert_file_id(curve.base.take(), &file_id);
            problems.extend(reject_confirmations(&confirmations));
        }
        procedure
    });
    StudyPlan {
        import: None,
        description: study.description.clone(),
        continue_on_failure: study.continue_on_failure,
        file_id,
        scaled,
        confirmations,
        order_seed,
        until_decided,
        idle_wait_seconds: study.idle_wait_seconds,
        notes: procedure::notes(procedure.as_ref(), &steps),
        procedure,
        steps,
        problems,
    }
}

/// `files`: files left by earlier runs.
fn plan_run(
    study: &StudySpec,
    step: &StepSpec,
    jobs: &[Value],
    file_id: &str,
    files: &ProjectedFiles,
    host: &dyn HostView,
) -> Plan {
    let run = json!({"jobs": jobs, "sample_ms": step.run.sample_ms, "study": file_id});
    match parse_run(&run) {
        Ok(run) => {
            let run = RunSpec {
                confirm: study.confirm.clone(),
                idle_wait_seconds: study.idle_wait_seconds,
                ..run
            };
            resolve_after(files, &run, host)
        }
        Err(problems) => Plan::rejected(problems),
    }
}

fn step_plan(step: &StepSpec, step_run: StepRun, jobs: Vec<Value>, plan: Plan) -> StepPlan {
    StepPlan {
        step: step_run.step as u32 + 1,
        repeat: step_run.repeat,
        sweep: step.sweep.clone(),
        name: step.name.clone(),
        note: step.note.clone(),
        jobs,
        plan,
    }
}

/// A load curve's later runs are not yet known at the start, so they cannot be confirmed.
fn reject_confirmations(confirmations: &[Confirmation]) -> Option<Problem> {
    let confirmation = confirmations.first()?;
    let detail = format!(
        "The load curve would overwrite {}, which needs a confirmation for each run.",
        confirmation.path
    );
    let remedy = "Use a file that Leadline creates, or loop_device=1.";
    Some(Problem::guard(
        "overwrite_not_confirmed",
        "load_curve",
        detail,
        remedy,
    ))
}

fn insert_file_id(mut job: Value, file_id: &str) -> Value {
    for option in ["filename", "directory"] {
        if let Some(text) = job[option].as_str() {
            job[option] = text.replace(FILE_ID_PLACEHOLDER, file_id).into();
        }
    }
    job
}
