//! Runs the steps of a study one after another.

use crate::{
    cli::{
        compare,
        event_printer::EventPrinter,
        output::{OutputFormat, print_error, print_json, write_styled},
        text::{self, study::StepResult, style::terminal_width},
    },
    run::{self, stop_signal::StopSignal},
    system::{guard::permissions::Permissions, target::leftovers::remove_leftovers},
};
use leadline_protocol::{
    job::run_spec::{RunSpec, parse_run},
    plan::planned_minute,
    status::RunStatus,
    study::{
        parse::parse_study,
        plan::{StepPlan, StudyPlan},
    },
};
use serde_json::{Value, json};

struct Step<'a> {
    plan: &'a StepPlan,
    /// Exit code and events; `None` if the step did not start.
    run: Option<(u8, EventPrinter)>,
}

impl Step<'_> {
    fn result(&self) -> StepResult<'_> {
        let Some((_, events)) = &self.run else {
            return StepResult::Skipped;
        };
        if let Some(result) = &events.result {
            return StepResult::Done(result);
        }
        let problem = events
            .failure
            .as_ref()
            .and_then(|failure| failure.problems.first());
        StepResult::Failed(problem.map_or("", |problem| &problem.detail))
    }
}

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
    let steps = run_steps(&plan, permissions, &confirm, format, stop);
    let has_leftovers = clean_up(&plan, permissions);
    let output_code = match format {
        OutputFormat::Events => 0,
        OutputFormat::Json => print_json(&json_report(&plan, &steps)),
        OutputFormat::Text => {
            let results: Vec<_> = steps.iter().map(Step::result).collect();
            let mut text = text::study::render_results(&plan, &results, terminal_width());
            for answer in answers(&plan, &steps) {
                text += &text::study::answer(&answer, terminal_width());
            }
            u8::from(write_styled(&text).is_err())
        }
    };
    steps
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
) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    let mut has_failed = false;
    for (number, step) in (1..).zip(&plan.steps) {
        let is_skipped = stop.is_requested() || has_failed && !plan.continue_on_failure;
        let run = (!is_skipped).then(|| {
            let mut events = EventPrinter::new(format, Some(number), stop);
            let run = step.run(&plan.file_id);
            let code = run_step(&run, permissions, confirm, stop, &mut events);
            events.clear_progress();
            (code, events)
        });
        let step = Step { plan: step, run };
        if let Some((code, _)) = &step.run {
            has_failed |= *code != 0;
            if format == OutputFormat::Text {
                // A closed standard output does not end the study, because its files must be
                // removed.
                let line = text::study::step_line(plan, number, step.plan, &step.result());
                let _ = write_styled(&line);
            }
        }
        steps.push(step);
    }
    steps
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

/// Compares each step of a repeated study with the first step.
fn answers(plan: &StudyPlan, steps: &[Step]) -> Vec<String> {
    let is_repeated = plan.steps.iter().any(|step| step.repeat > 1);
    if is_repeated {
        compare::compare_study_steps(json_report(plan, steps))
    } else {
        Vec::new()
    }
}

fn json_report(plan: &StudyPlan, steps: &[Step]) -> Value {
    let steps: Vec<Value> = steps.iter().map(step_json).collect();
    json!({"study": plan.description, "file_id": plan.file_id, "scaled": plan.scaled, "steps": steps})
}

fn step_json(step: &Step) -> Value {
    let mut json = json!({
        "step": step.plan.step,
        "repeat": step.plan.repeat,
        "name": step.plan.name,
        "note": step.plan.note,
        // The comparison excludes runs without a report by their status.
        "status": RunStatus::Cancelled,
        "exit_code": null,
    });
    if let Some((code, events)) = &step.run {
        json["exit_code"] = (*code).into();
        if let Some(Value::Object(report)) = events.json_report() {
            for (name, value) in report {
                json[name] = value;
            }
            if let Some(options) = json.as_object_mut() {
                options.remove("status");
            }
        } else {
            json["status"] = json!(RunStatus::Failed);
            json["failure"] = json!(events.failure);
        }
    }
    json
}
