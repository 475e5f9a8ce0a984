//! Runs the steps of a study one after another.

mod progress;

use crate::{
    cli::{
        event_printer::EventPrinter,
        output::{OutputFormat, print_error, print_json, write_styled},
        study::progress::{Progress, Step, can_repeat},
        text::{self, style::terminal_width},
    },
    run::{self, stop_signal::StopSignal},
    system::{guard::permissions::Permissions, target::leftovers::remove_leftovers},
};
use leadline_protocol::{
    job::run_spec::{RunSpec, parse_run},
    plan::planned_minute,
    problem::Problem,
    study::{
        parse::parse_study,
        plan::{StepPlan, StudyPlan},
    },
};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Runs a study and returns the exit code of the first failed step. `confirm` adds to the
/// confirmations in the document.
pub(crate) fn run(
    document: Value,
    permissions: &Permissions,
    confirm: &[String],
    format: OutputFormat,
    stop: &StopSignal,
) -> u8 {
    let spec = parse_study(document).map(|mut spec| {
        spec.confirm.extend_from_slice(confirm);
        spec
    });
    let confirm = spec
        .as_ref()
        .map_or(Vec::new(), |spec| spec.confirm.clone());
    let plan = spec.map_or_else(StudyPlan::rejected, |spec| {
        run::plan_study(&spec, permissions)
    });
    if !plan.problems.is_empty() {
        return EventPrinter::new(format, None, stop).reject(plan.problems);
    }
    let progress = run_steps(&plan, permissions, &confirm, format, stop);
    let has_leftovers = clean_up(&plan, permissions);
    let output_code = match format {
        OutputFormat::Events => 0,
        OutputFormat::Json => print_json(&progress.json_report(&plan)),
        OutputFormat::Text => {
            let results: Vec<_> = progress.steps.iter().map(Step::result).collect();
            let mut text = text::study::render_results(&plan, &results, terminal_width());
            if let Some(results) = progress.procedure_results(&plan) {
                text += &text::procedure::render(&results, terminal_width());
            }
            for answer in progress.answers(&plan) {
                text += &text::study::answer(&answer, terminal_width());
            }
            u8::from(write_styled(&text).is_err())
        }
    };
    progress
        .steps
        .iter()
        .filter_map(|step| step.run.as_ref())
        .map(|(code, _)| *code)
        .find(|code| *code != 0)
        .or(stop.exit_code())
        .unwrap_or(output_code.max(has_leftovers.into()))
}

fn run_steps<'a>(
    plan: &'a StudyPlan,
    permissions: &Permissions,
    confirm: &[String],
    format: OutputFormat,
    stop: &StopSignal,
) -> Progress<'a> {
    let context = Context {
        plan,
        permissions,
        confirm,
        format,
        stop,
    };
    let mut progress = Progress::default();
    for step in &plan.steps {
        context.run_next(&mut progress, Cow::Borrowed(step));
    }
    while !stop.is_requested()
        && let Some(document) = progress.next_step(plan)
    {
        match added_step(plan, &document, progress.steps.len(), permissions) {
            Ok(step) => context.run_next(&mut progress, Cow::Owned(step)),
            Err(problems) => {
                problems.iter().for_each(print_error);
                break;
            }
        }
    }
    progress
}

/// Plans a step that a procedure adds. `number`: number of earlier steps.
fn added_step(
    plan: &StudyPlan,
    document: &Value,
    number: usize,
    permissions: &Permissions,
) -> Result<StepPlan, Vec<Problem>> {
    let run = json!({"jobs": document["jobs"], "study": plan.file_id});
    let planned = run::plan(&parse_run(&run)?, permissions);
    if !planned.problems.is_empty() {
        return Err(planned.problems);
    }
    Ok(StepPlan {
        step: number as u32 + 1,
        repeat: 1,
        sweep: Vec::new(),
        name: document["name"].as_str().unwrap_or_default().to_owned(),
        note: None,
        jobs: document["jobs"].as_array().cloned().unwrap_or_default(),
        plan: planned,
    })
}

/// What all steps of a study share.
struct Context<'a> {
    plan: &'a StudyPlan,
    permissions: &'a Permissions,
    confirm: &'a [String],
    format: OutputFormat,
    stop: &'a StopSignal,
}

impl Context<'_> {
    /// Runs a step, and once more if it fails.
    fn run_next<'s>(&self, progress: &mut Progress<'s>, step: Cow<'s, StepPlan>) {
        let (plan, stop) = (self.plan, self.stop);
        let number = progress.steps.len() as u32 + 1;
        let is_skipped = stop.is_requested() || progress.has_ended(plan);
        let run_once = || {
            let mut events = EventPrinter::new(self.format, Some(number), stop);
            let run = step.run(&plan.file_id, plan.idle_wait_seconds);
            let code = run_step(&run, self.permissions, self.confirm, stop, &mut events);
            events.clear_progress();
            (code, events)
        };
        let mut run = (!is_skipped).then(run_once);
        let is_failed = run.as_ref().is_some_and(|(code, _)| *code != 0);
        let mut failed_run = None;
        if is_failed && can_repeat(plan, &step) && !stop.is_requested() {
            failed_run = run.replace(run_once());
        }
        let step = Step {
            plan: step,
            run,
            failed_run,
        };
        if step.run.is_some() && self.format == OutputFormat::Text {
            // A closed standard output does not end the study, because its files must be removed.
            let is_second = step.failed_run.is_some();
            let line = text::study::step_line(plan, number, &step.plan, &step.result(), is_second);
            let _ = write_styled(&line);
        }
        progress.steps.push(step);
        if !stop.is_requested()
            && let Some(look) = progress.take_look(plan)
            && self.format == OutputFormat::Text
        {
            let _ = write_styled(&text::study::look_line(look, terminal_width()));
        }
    }
}

/// Runs a step, reports its events, and returns the exit code.
fn run_step(
    document: &Value,
    permissions: &Permissions,
    confirm: &[String],
    stop: &StopSignal,
    events: &mut EventPrinter,
) -> u8 {
    match parse_run(document) {
        Ok(spec) => {
            let spec = RunSpec {
                confirm: confirm.to_vec(),
                // The study plan has already checked the time.
                accepted_minute: confirm.iter().find_map(|entry| planned_minute(entry)),
                ..spec
            };
            run::run(&spec, permissions, stop, &mut |event| events.handle(event))
        }
        Err(problems) => events.reject(problems),
    }
}

/// Removes files left by steps that did not run. Returns true if files remain.
fn clean_up(plan: &StudyPlan, permissions: &Permissions) -> bool {
    let left = remove_leftovers(&plan.owned_files(), permissions).left;
    left.iter()
        .filter_map(|file| file.reason.as_ref())
        .for_each(print_error);
    !left.is_empty()
}
