//! A study's runs so far, and the interim looks at their results.

use crate::cli::{compare, event_printer::EventPrinter, text::study::StepResult};
use leadline_compare::{group::ComparedRun, procedure, procedure_run::ProcedureRun};
use leadline_export::FinishedRun;
use leadline_protocol::{
    status::RunStatus,
    study::{
        plan::{StepPlan, StudyPlan},
        procedure::ProcedureResults,
        until_decided::{Look, UntilDecided},
    },
};
use serde_json::{Value, json};
use std::borrow::Cow;

pub(super) struct Step<'a> {
    /// Borrowed from the study plan, or owned if a procedure added the step.
    pub plan: Cow<'a, StepPlan>,
    /// Exit code and events; `None` if the step did not start.
    pub run: Option<(u8, EventPrinter)>,
    /// Exit code and events of a failed run that `run` retries.
    pub failed_run: Option<(u8, EventPrinter)>,
    /// Whether an earlier attempt was interrupted before the study was resumed.
    pub was_interrupted: bool,
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

    fn input(&self) -> ProcedureRun<'_> {
        let events = self.run.as_ref().map(|(_, events)| events);
        let result = events.and_then(|events| events.result.as_ref());
        let status = match &self.run {
            None => RunStatus::Cancelled,
            Some((0, _)) => RunStatus::Done,
            Some(_) => RunStatus::Failed,
        };
        ProcedureRun {
            run: ComparedRun {
                label: self.plan.name.clone(),
                number: None,
                status,
                sample_ms: self.plan.plan.sample_ms,
                resolved: &self.plan.plan.jobs,
                host: events.and_then(EventPrinter::host),
                report: result.map(|result| &result.report),
                verdict: result.map(|result| &result.verdict),
                findings: result.map_or(&[], |result| &result.findings),
                block: None,
                is_after_look: false,
            },
            first_attempt: match &self.failed_run {
                _ if self.was_interrupted => Some(RunStatus::Interrupted),
                Some(_) => Some(RunStatus::Failed),
                None => None,
            },
        }
    }
}

#[derive(Default)]
pub(super) struct Progress<'a> {
    /// In the order of the plan.
    pub steps: Vec<Step<'a>>,
    /// Whether the first attempt at the next step was interrupted.
    pub was_interrupted: bool,
    looks: Vec<Look>,
}

impl Progress<'_> {
    /// Whether the study has ended, so the remaining runs will not start.
    pub(super) fn has_ended(&self, plan: &StudyPlan) -> bool {
        let has_failed = || self.steps.iter().any(|step| self.ends_study(plan, step));
        UntilDecided::decision(&self.looks).is_some()
            || !plan.continue_on_failure && has_failed()
            || self.procedure_end(plan).is_some()
    }

    /// Why the remaining runs of a procedure are not needed.
    pub(super) fn procedure_end(&self, plan: &StudyPlan) -> Option<String> {
        procedure::early_end(plan.procedure.as_ref()?, &self.procedure_runs(plan))
    }

    /// A procedure's results so far.
    pub(super) fn procedure_results(&self, plan: &StudyPlan) -> Option<ProcedureResults> {
        let procedure = plan.procedure.as_ref()?;
        Some(procedure::results(procedure, &self.procedure_runs(plan)))
    }

    /// The next step of a procedure, as a document; `None` if there is none.
    pub(super) fn next_step(&self, plan: &StudyPlan) -> Option<Value> {
        let is_done = |step: &Step| step.run.as_ref().is_some_and(|(code, _)| *code == 0);
        let procedure = plan.procedure.as_ref()?;
        let can_continue = procedure::adds_runs(procedure) && self.steps.iter().all(is_done);
        can_continue
            .then(|| procedure::next_step(procedure, &self.procedure_runs(plan)))
            .flatten()
    }

    fn procedure_runs(&self, plan: &StudyPlan) -> Vec<Option<ProcedureRun<'_>>> {
        let mut runs: Vec<_> = self.steps.iter().map(|step| Some(step.input())).collect();
        runs.resize(plan.steps.len().max(runs.len()), None);
        runs
    }

    /// In a repeated study, a failed run ends the study only if none of its step's runs has
    /// completed, or if its step overwrites data.
    fn ends_study(&self, plan: &StudyPlan, step: &Step) -> bool {
        let code = |step: &Step| step.run.as_ref().map(|(code, _)| *code);
        let mut same = self
            .steps
            .iter()
            .filter(|other| other.plan.step == step.plan.step);
        let has_failed = code(step).is_some_and(|code| code != 0);
        has_failed && (!can_retry(plan, &step.plan) || !same.any(|other| code(other) == Some(0)))
    }

    /// Takes the next look, which compares the steps, once all of its runs have ended.
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
        if let Some(results) = self.procedure_results(plan) {
            report["procedure"] = json!(plan.procedure);
            report["results"] = json!(results);
        }
        report
    }
}

/// Whether a failed run is retried once.
pub(super) fn can_retry(plan: &StudyPlan, step: &StepPlan) -> bool {
    plan.retries_failed_runs() && step.plan.confirmations.is_empty()
}

fn result(events: &EventPrinter) -> StepResult<'_> {
    if let Some(result) = &events.result {
        return StepResult::Done(result);
    }
    let failure = events.failure.as_ref();
    let problem = failure.and_then(|failure| failure.problems.first());
    StepResult::Failed(problem.map_or("", |problem| &problem.detail))
}

/// Returns the run as JSON, preceded by the failed run that it retries.
fn attempts_json(step: &Step) -> Vec<Value> {
    let run = step.run.as_ref().map(|(code, events)| (*code, events));
    let failed = step
        .failed_run
        .as_ref()
        .map(|(code, events)| (*code, events));
    let failed = failed.map(|(code, events)| {
        let mut json = run_json(&step.plan, Some((code, events)));
        // A partial or damaged report must not count as one of the step's values.
        json["status"] = json!(RunStatus::Failed);
        json["repeated"] = true.into();
        json
    });
    failed
        .into_iter()
        .chain([run_json(&step.plan, run)])
        .collect()
}

fn run_json(plan: &StepPlan, run: Option<(u8, &EventPrinter)>) -> Value {
    let mut json = json!({
        "step": plan.step,
        "repeat": plan.repeat,
        "name": plan.name,
        "note": plan.note,
        // The comparison uses the status to exclude runs that have no report.
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
