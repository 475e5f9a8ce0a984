//! The runs of a study so far, and the looks at them.

use crate::cli::{
    compare::{self, sequential::look},
    event_printer::EventPrinter,
    text::study::StepResult,
};
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
}

impl Step<'_> {
    pub(super) fn result(&self) -> StepResult<'_> {
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

#[derive(Default)]
pub(super) struct Progress<'a> {
    /// In the order of the plan.
    pub steps: Vec<Step<'a>>,
    looks: Vec<Look>,
}

impl Progress<'_> {
    /// Whether the remaining runs do not start.
    pub(super) fn has_ended(&self, plan: &StudyPlan) -> bool {
        let mut codes = self.steps.iter().filter_map(|step| step.run.as_ref());
        let has_failed = codes.any(|(code, _)| *code != 0);
        UntilDecided::decision(&self.looks).is_some() || has_failed && !plan.continue_on_failure
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
        let look = look(&self.json_report(plan), until, planned)?;
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
        let steps: Vec<Value> = self.steps.iter().map(step_json).collect();
        let mut report = json!({"study": plan.description, "file_id": plan.file_id, "scaled": plan.scaled, "steps": steps});
        if let Some(until) = &plan.until_decided {
            report["until_decided"] = json!(until);
            report["looks"] = json!(self.looks);
        }
        report
    }
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
