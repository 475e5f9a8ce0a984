//! Creates studies.

use crate::{
    error::Error,
    runs::{
        Runs, run_detached,
        submit::{Submitted, required_confirmations},
    },
    scheduler::locks::{locks_for, study_lock},
    store::{
        confirmations::CreateError,
        keys::{IdempotencyKey, KeyUse},
        new_run::NewRun,
        studies::{NewStudy, StepDescription},
    },
};
use leadline_protocol::{
    device::DeviceList,
    host::LOCAL_HOST,
    plan::job::ResolvedJob,
    study::{
        detail::Study,
        plan::{StepPlan, StudyPlan},
    },
};
use serde_json::Value;

#[derive(Clone, Debug)]
pub(crate) struct StudyRequest {
    /// The study document that is passed to the runner.
    pub document: Value,
    pub host: Option<String>,
    /// Tags for all runs.
    pub tags: Option<Vec<String>>,
    /// Confirmations that data may be overwritten. The document also contains them.
    pub confirm: Option<Vec<String>>,
}

impl Runs {
    pub(crate) async fn plan_study(&self, request: &StudyRequest) -> Result<StudyPlan, Error> {
        Ok(self.runner.plan(&request.document).await?)
    }

    /// Plans and queues all runs of a study. If a request with the same key has already created a
    /// study, returns it.
    pub(crate) async fn submit_study(
        &self,
        request: StudyRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<Submitted<Study>, Error> {
        if let Some(key) = &key
            && let Some(earlier) = self.store.find_key(key).await?
        {
            return self.replay_study(earlier).await;
        }
        self.check_study_capacity(1)?;
        let plan = self.plan_study(&request).await?;
        if !plan.problems.is_empty() {
            return Err(Error::Rejected(plan.problems));
        }
        let devices = self.devices_for(&all_jobs(&plan)).await?;
        let new = new_study(request, plan, &devices);
        let runs = self.clone();
        // Runs in its own task, because runs that have been stored must be queued.
        run_detached(async move { runs.enqueue_study(&new, key.as_ref()).await }).await
    }

    async fn enqueue_study(
        &self,
        new: &NewStudy,
        key: Option<&IdempotencyKey>,
    ) -> Result<Submitted<Study>, Error> {
        let admission = self.admission.lock().await;
        self.check_study_capacity(new.steps.len())?;
        let now_ms = crate::clock::now_ms();
        let inserted = self
            .store
            .insert_study(new, key, now_ms, study_lock)
            .await?;
        let (number, runs) = match inserted {
            Ok(study) => study,
            Err(CreateError::KeyUsed(earlier)) => return self.replay_study(earlier).await,
            Err(CreateError::ConfirmationUsed(entry)) => {
                return Err(Error::confirmation_used(&entry));
            }
        };
        let numbers: Vec<u64> = runs.iter().map(|(run, _)| *run).collect();
        for (run, new) in runs {
            self.enqueue(run, new.locks);
        }
        drop(admission);
        for run in numbers {
            self.publish_summary(run).await;
        }
        // Published once for all runs, because publishing a study reads all of its runs.
        self.publish_study(number).await;
        self.publish_queue();
        // Read the study before starting it, so the response shows it as queued.
        let study = self.study(number).await?;
        self.start_ready_runs();
        Ok(Submitted::new(study))
    }

    async fn replay_study(&self, earlier: KeyUse) -> Result<Submitted<Study>, Error> {
        match earlier {
            KeyUse::Replayed {
                study: Some(study), ..
            } => Submitted::replayed(self.study(study).await),
            _ => Err(Error::key_reused()),
        }
    }
}

fn all_jobs(plan: &StudyPlan) -> Vec<ResolvedJob> {
    let steps = plan.steps.iter();
    steps.flat_map(|step| step.plan.jobs.clone()).collect()
}

fn new_study(request: StudyRequest, plan: StudyPlan, devices: &DeviceList) -> NewStudy {
    let host = request.host.unwrap_or_else(|| LOCAL_HOST.into());
    let tags = request.tags.unwrap_or_default();
    let owned = plan.owned_files();
    let given = request.confirm.as_deref();
    let run = |step: &StepPlan| NewRun {
        name: run_name(&plan, step),
        host: host.clone(),
        tags: tags.clone(),
        notes: step.note.clone().unwrap_or_default(),
        requested: step.jobs.clone(),
        sample_ms: step.plan.sample_ms,
        resolved: step.plan.jobs.clone(),
        confirm: required_confirmations(&step.plan.confirmations, given),
        locks: locks_for(&step.plan.jobs, devices),
    };
    let description = |step: &StepPlan| StepDescription {
        name: step.name.clone(),
        note: step.note.clone(),
        step: Some(step.step),
        repeat: Some(step.repeat),
        sweep: step.sweep.clone(),
    };
    let steps = plan.steps.iter();
    NewStudy {
        confirm: required_confirmations(&plan.confirmations, given),
        steps: steps.map(|step| (description(step), run(step))).collect(),
        order_seed: plan.order_seed,
        idle_wait_seconds: plan.idle_wait_seconds,
        retries: plan.retries_failed_runs(),
        procedure: plan.procedure,
        until_decided: plan.until_decided,
        description: plan.description,
        scaled: plan.scaled,
        continue_on_failure: plan.continue_on_failure,
        file_id: owned.file_id,
        owned_files: owned.files,
    }
}

fn run_name(plan: &StudyPlan, step: &StepPlan) -> String {
    let name = format!("{}: {}", plan.description.name, step.name);
    let is_repeated = plan.steps.iter().any(|step| step.repeat > 1);
    if is_repeated {
        format!("{name} ({})", step.repeat)
    } else {
        name
    }
}
