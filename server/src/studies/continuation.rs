//! Adds runs to studies whose procedure derives each run from earlier results, such as a
//! load–latency curve.

use crate::{
    runs::{Runs, run_detached},
    scheduler::locks::{locks_for, study_lock},
    store::{
        new_run::NewRun,
        studies::{StepDescription, StoredStudy},
        study_digest::log_damaged,
    },
    studies::procedures::compute_with_inputs,
};
use leadline_compare::procedure::{adds_runs, is_probe, next_step};
use leadline_protocol::{plan::Plan, status::RunStatus};
use serde_json::{Value, json};

/// Maximum number of open studies to check at startup. Older ones were handled at previous
/// startups.
const MAX_STUDIES_AT_START: u32 = 100;

impl Runs {
    /// Queues the next run of a study, or records that no more runs are needed. Must be called
    /// before the study's lock is released.
    pub(crate) async fn continue_study(&self, study: u64) {
        if let Err(error) = self.try_continue_study(study).await {
            tracing::error!(study, "cannot continue a study: {error:#}");
        }
    }

    /// Continues the studies whose next run was not stored when the server was killed.
    pub(crate) async fn continue_studies(&self) -> anyhow::Result<()> {
        for study in self.store.open_procedures(MAX_STUDIES_AT_START).await? {
            log_damaged(self.try_continue_study(study).await)?;
        }
        Ok(())
    }

    async fn try_continue_study(&self, study: u64) -> anyhow::Result<()> {
        let Some(stored) = self.store.study(study).await? else {
            return Ok(());
        };
        let Some(procedure) = stored.procedure.clone().filter(|_| needs_next_run(&stored)) else {
            return Ok(());
        };
        let runs = self.procedure_runs(&stored).await?;
        let next = compute_with_inputs(runs, move |runs| next_step(&procedure, runs)).await?;
        match next {
            Some(step) => self.add_step(stored, &step).await,
            None => self.end_procedure(study, end_reason(&stored)).await,
        }
    }

    async fn end_procedure(&self, study: u64, reason: &str) -> anyhow::Result<()> {
        tracing::info!(study, reason, "a study's procedure ended");
        self.store.set_ended(study, reason).await?;
        self.publish_study(study).await;
        Ok(())
    }

    /// `step`: the document of the study step to add.
    async fn add_step(&self, stored: StoredStudy, step: &Value) -> anyhow::Result<()> {
        let study = stored.number;
        let run = json!({"jobs": step["jobs"], "study": stored.file_id});
        let plan: Plan = self.runner.plan(&run).await?;
        if let Some(problem) = plan.problems.first() {
            let reason = format!("the next rate cannot run: {}", problem.detail);
            return self.end_procedure(study, &reason).await;
        }
        let devices = self.devices_for(&plan.jobs).await;
        let devices = devices.map_err(|error| anyhow::anyhow!("{error}"))?;
        let name = distinct_name(step["name"].as_str().unwrap_or_default(), &stored.steps);
        let first = stored.runs.first();
        let mut locks = locks_for(&plan.jobs, &devices);
        locks.insert(study_lock(study));
        let new = NewRun {
            name: format!("{}: {name}", stored.description.name),
            host: first.map_or_else(String::new, |run| run.host.clone().unwrap_or_default()),
            tags: first.map_or_else(Vec::new, |run| run.tags.clone()),
            notes: String::new(),
            requested: step["jobs"].as_array().cloned().unwrap_or_default(),
            sample_ms: plan.sample_ms,
            resolved: plan.jobs,
            confirm: Vec::new(),
            locks,
        };
        let number = stored.steps.len() as u32 + 1;
        let description = StepDescription {
            name,
            note: None,
            step: Some(number),
            repeat: Some(1),
            sweep: Vec::new(),
        };
        let runs = self.clone();
        // Runs in its own task, because a run that has been stored must be queued.
        let queued =
            run_detached(async move { Ok(runs.queue_step(study, description, new).await?) });
        queued.await.map_err(|error| anyhow::anyhow!("{error}"))
    }

    async fn queue_step(
        &self,
        study: u64,
        description: StepDescription,
        new: NewRun,
    ) -> anyhow::Result<()> {
        let admission = self.admission.lock().await;
        let now_ms = crate::clock::now_ms();
        let Some(run) = self
            .store
            .append_step(study, &description, &new, now_ms)
            .await?
        else {
            return Ok(());
        };
        self.enqueue(run, new.locks);
        drop(admission);
        self.publish_run(run).await;
        self.publish_study(study).await;
        self.publish_queue();
        Ok(())
    }
}

/// The name of a new step. If earlier steps have the same name, a number follows, because runs of a
/// repeated rate would have equal names in lists.
fn distinct_name(name: &str, steps: &[StepDescription]) -> String {
    let is_taken = |name: &str| steps.iter().any(|step| step.name == name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

fn end_reason(study: &StoredStudy) -> &'static str {
    match study.runs.last() {
        Some(last) if last.status != RunStatus::Done => "the last rate has no result",
        _ => "the curve is complete",
    }
}

/// Whether another run is to be added to the study. A run that failed twice or was cancelled ends
/// the study. If a rate was interrupted twice, the study continues with the next rate. If the probe
/// was interrupted twice, the study ends.
pub(super) fn needs_next_run(study: &StoredStudy) -> bool {
    let Some(procedure) = study.procedure.as_ref().filter(|it| adds_runs(it)) else {
        return false;
    };
    let has_ended = study.runs.iter().all(|run| run.status.is_final());
    let allows_next = |step: u32| {
        let mut runs = study.runs.iter().filter(|run| run.step == Some(step));
        runs.any(|run| match run.status {
            RunStatus::Done => true,
            RunStatus::Interrupted => run.retry_of.is_some() && !is_probe(procedure, step),
            _ => false,
        })
    };
    let mut steps = 1..=study.steps.len() as u32;
    study.ended.is_none() && !study.awaits_retry && has_ended && steps.all(allows_next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_rates_have_distinct_names() {
        let mut steps = Vec::new();
        for expected in ["1,000 IOPS", "1,000 IOPS (2)", "1,000 IOPS (3)"] {
            let name = distinct_name("1,000 IOPS", &steps);
            assert_eq!(name, expected);
            steps.push(StepDescription {
                name,
                note: None,
                step: None,
                repeat: None,
                sweep: Vec::new(),
            });
        }
        assert_eq!(distinct_name("2,000 IOPS", &steps), "2,000 IOPS");
    }
}
