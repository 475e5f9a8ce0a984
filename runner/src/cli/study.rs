//! A study on a terminal: its steps one after the other, a line for each as it ends, a table of all in the end.

use crate::cli::listener::{Form, Listener};
use crate::cli::print;
use crate::cli::print::study::StepResult;
use crate::cli::print::style::Style;
use crate::cli::{complain, write_out};
use crate::run;
use crate::run::stop::Stop;
use crate::system::target::leftovers::remove_leftovers;
use leadline_protocol::job::parse::parse_run;
use leadline_protocol::study::parse::parse_study;
use leadline_protocol::study::{StepPlan, StudyPlan};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A step, and what came of it; `None` when it was not begun.
struct Step<'a> {
    plan: &'a StepPlan,
    done: Option<(u8, Listener)>,
}

/// Does the study; the exit code of its first step that failed.
pub fn run(document: Value, roots: &[PathBuf], form: Form, stop: &Stop) -> u8 {
    let refuse = |problems| Listener::new(form, None, stop).refuse(problems);
    let plan = match parse_study(document) {
        Ok(ask) => run::plan_study(&ask, roots),
        Err(problems) => return refuse(problems),
    };
    if !plan.problems.is_empty() {
        return refuse(plan.problems);
    }
    let steps = do_steps(&plan, roots, form, stop);
    let stayed = tell_what_stayed(&plan, roots);
    let failed = steps
        .iter()
        .filter_map(|step| step.done.as_ref())
        .map(|(code, _)| *code)
        .find(|code| *code != 0);
    let text = match form {
        Form::Events => String::new(),
        Form::Json => format!("{}\n", all(&plan, &steps)),
        Form::Text => print::study_table(&plan, &results(&steps), Style::of_stdout()),
    };
    let unread = write_out(&text).is_err();
    failed
        .or(stop.exit_code())
        .unwrap_or(u8::from(unread || stayed))
}

/// Removes the files that a step which never ran would have removed. Whether any is still there.
fn tell_what_stayed(plan: &StudyPlan, roots: &[PathBuf]) -> bool {
    let left = remove_leftovers(&plan.own(), roots).left;
    left.iter()
        .filter_map(|file| file.reason.as_ref())
        .for_each(complain);
    !left.is_empty()
}

fn do_steps<'a>(plan: &'a StudyPlan, roots: &[PathBuf], form: Form, stop: &Stop) -> Vec<Step<'a>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = true;
    for (number, step) in (1..).zip(&plan.steps) {
        if !goes_on || stop.is_requested() {
            steps.push(Step {
                plan: step,
                done: None,
            });
            continue;
        }
        let mut listener = Listener::new(form, Some(number), stop);
        let code = match parse_run(&step.run(&plan.file_id)) {
            Ok(ask) => run::run(&ask, roots, stop, &mut |event| listener.hear(event)),
            Err(problems) => listener.refuse(problems),
        };
        listener.clear();
        goes_on = code == 0 || plan.continue_on_failure;
        steps.push(Step {
            plan: step,
            done: Some((code, listener)),
        });
        if form == Form::Text {
            // A table that nobody reads any more stops nothing: the files would stay.
            let _ = write_out(&print::study_line(
                plan,
                &results(&steps),
                Style::of_stdout(),
            ));
        }
    }
    steps
}

fn results<'a>(steps: &'a [Step]) -> Vec<StepResult<'a>> {
    let result = |step: &'a Step| match &step.done {
        None => StepResult::NotBegun,
        Some((_, listener)) => match (listener.outcome.as_deref(), &listener.failure) {
            (Some(outcome), _) => StepResult::Done(outcome),
            (None, failure) => StepResult::Failed(
                failure
                    .as_ref()
                    .and_then(|failure| failure.problems.first())
                    .map_or("", |first| &first.detail),
            ),
        },
    };
    steps.iter().map(result).collect()
}

/// One JSON object of all steps.
fn all(plan: &StudyPlan, steps: &[Step]) -> Value {
    let one = |(number, step): (u32, &Step)| {
        let mut all = json!({"step": number, "name": step.plan.name, "note": step.plan.note, "exit_code": null});
        if let Some((code, listener)) = &step.done {
            all["exit_code"] = (*code).into();
            match (listener.json(), &listener.failure) {
                (Some(Value::Object(report)), _) => report
                    .into_iter()
                    .for_each(|(name, value)| all[name.as_str()] = value),
                (_, failure) => all["failure"] = json!(failure),
            }
        }
        all
    };
    let steps: Vec<Value> = (1..).zip(steps).map(one).collect();
    json!({"study": plan.words, "scaled": plan.scaled, "steps": steps})
}
