//! The runs of a study so far, and the looks at them.

use crate::cli::{compare, event_printer::EventPrinter, text::study::StepResult};
use leadline_export::FinishedRun;
use leadline_protocol::{
    status::RunStatus,
    study::{
        plan::{StepPlan, StudyPlan},
        until_decided::{Look, UntilDecided},
    },
};
use serde_json::{Value, json};

pub(super) struct Step<'a> {
    pub plan: &'a StepPlan,
    /// Exit code and events; `None` if the step did not start.
    pub run: Option<(u8, EventPrinter)>,
    /// Exit code and events of a failed run that `run` repeats.
    pub failed_run: Option<(u8, EventPrinter)>,
}

impl Step<'_> {
    pub(super) fn result(&self) -> StepResult<'_> {
        self.run
            .as_ref()
            .map_or(StepResult::Skipped, |(_, events)| result(events))
    }

    /// `None` if the step has no result.
    pub(super) fn finished_run(&self) -> Option<FinishedRun<'_>> {
        self.run.as_ref()?.1.finished_run()
    }
}

#[derive(Default)]
pub(super) struct Progress<'a> {
    /// In the order of the plan.
    pub steps: Vec<Step<'a>>,
    looks: Vec<Look>,
}

impl Progress<'_> {
    /// Whether the remaining runs do not start.
    pub(super) fn has_ended(&self, plan: &StudyPlan) -> bool {
        let has_failed = || self.steps.iter().any(|step| self.ends_study(plan, step));
        UntilDecided::decision(&self.looks).is_some() || !plan.continue_on_failure && has_failed()
    }

    /// In a repeated study, a failed run ends the study only if no run of its step has been
    /// complete, or if it overwrites data.
    fn ends_study(&self, plan: &StudyPlan, step: &Step) -> bool {
        let code = |step: &Step| step.run.as_ref().map(|(code, _)| *code);
        let mut same = self
            .steps
            .iter()
            .filter(|other| other.plan.step == step.plan.step);
        let has_failed = code(step).is_some_and(|code| code != 0);
        has_failed && (!can_repeat(plan, step.plan) || !same.any(|other| code(other) == Some(0)))
    }

    /// Compares the steps if the last run completes the block of a look.
    pub(super) fn take_look(&mut self, plan: &StudyPlan) -> Option<&Look> {
        let until = plan.until_decided.as_ref()?;
        let planned = until.next_look(&self.looks)?;
        let has_more = plan.steps[self.steps.len()..]
            .iter()
            .any(|step| step.repeat <= planned.pairs);
        let has_run = self.steps.last().is_some_and(|step| step.run.is_some());
        if has_more || !has_run {
            return None;
        }
        let look = compare::look(&self.json_report(plan), until, planned)?;
        self.looks.push(look);
        self.looks.last()
    }

    /// Compares each step of a repeated study with the first step.
    pub(super) fn answers(&self, plan: &StudyPlan) -> Vec<String> {
        let is_repeated = plan.steps.iter().any(|step| step.repeat > 1);
        if is_repeated {
            compare::compare_study_steps(self.json_report(plan))
        } else {
            Vec::new()
        }
    }

    pub(super) fn json_report(&self, plan: &StudyPlan) -> Value {
        let steps: Vec<Value> = self.steps.iter().flat_map(attempts_json).collect();
        let mut report = json!({"study": plan.description, "file_id": plan.file_id, "scaled": plan.scaled, "steps": steps});
        if let Some(until) = &plan.until_decided {
            report["until_decided"] = json!(until);
            report["looks"] = json!(self.looks);
        }
        report
    }
}

/// Whether a failed run is repeated once.
pub(super) fn can_repeat(plan: &StudyPlan, step: &StepPlan) -> bool {
    let is_repeated = plan.steps.iter().any(|step| step.repeat > 1);
    is_repeated && step.plan.confirmations.is_empty()
}

fn result(events: &EventPrinter) -> StepResult<'_> {
    if let Some(result) = &events.result {
        return StepResult::Done(result);
    }
    let failure = events.failure.as_ref();
    let problem = failure.and_then(|failure| failure.problems.first());
    StepResult::Failed(problem.map_or("", |problem| &problem.detail))
}

/// The run, after a failed run that it repeats.
fn attempts_json(step: &Step) -> Vec<Value> {
    let run = step.run.as_ref().map(|(code, events)| (*code, events));
    let failed = step
        .failed_run
        .as_ref()
        .map(|(code, events)| (*code, events));
    let failed = failed.map(|(code, events)| {
        let mut json = run_json(step.plan, Some((code, events)));
        // A partial or damaged report must not become a value of the step.
        json["status"] = json!(RunStatus::Failed);
        json["repeated"] = true.into();
        json
    });
    failed
        .into_iter()
        .chain([run_json(step.plan, run)])
        .collect()
}

fn run_json(plan: &StepPlan, run: Option<(u8, &EventPrinter)>) -> Value {
    let mut json = json!({
        "step": plan.step,
        "repeat": plan.repeat,
        "name": plan.name,
        "note": plan.note,
        // The comparison excludes runs without a report by their status.
        "status": RunStatus::Cancelled,
        "exit_code": null,
    });
    if let Some((code, events)) = run {
        json["exit_code"] = code.into();
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
