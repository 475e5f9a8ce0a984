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
    study::{parse::parse_study, plan::StudyPlan},
};
use serde_json::Value;

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
    let mut progress = Progress::default();
    for (number, step) in (1..).zip(&plan.steps) {
        let is_skipped = stop.is_requested() || progress.has_ended(plan);
        let run_once = || {
            let mut events = EventPrinter::new(format, Some(number), stop);
            let run = step.run(&plan.file_id, plan.idle_wait_seconds);
            let code = run_step(&run, permissions, confirm, stop, &mut events);
            events.clear_progress();
            (code, events)
        };
        let mut step = Step {
            plan: step,
            run: (!is_skipped).then(run_once),
            failed_run: None,
        };
        let is_failed = step.run.as_ref().is_some_and(|(code, _)| *code != 0);
        if is_failed && can_repeat(plan, step.plan) && !stop.is_requested() {
            step.failed_run = step.run.replace(run_once());
        }
        if step.run.is_some() && format == OutputFormat::Text {
            // A closed standard output does not end the study, because its files must be removed.
            let is_second = step.failed_run.is_some();
            let line = text::study::step_line(plan, number, step.plan, &step.result(), is_second);
            let _ = write_styled(&line);
        }
        progress.steps.push(step);
        if !stop.is_requested()
            && let Some(look) = progress.take_look(plan)
            && format == OutputFormat::Text
        {
            let _ = write_styled(&text::study::look_line(look, terminal_width()));
        }
    }
    progress
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
