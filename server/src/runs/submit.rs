//! Asking for a run: planned by the runner first, with the same code as the run itself, then taken into the queue.

use crate::error::ApiError;
use crate::events::buffer::Live;
use crate::events::journal;
use crate::runs::{MAX_QUEUED, Runs, confirm, to_its_end};
use crate::scheduler::locks::{locks_of, touches_devices};
use crate::scheduler::queue::Locks;
use crate::scheduler::state::Phase;
use crate::store::keys::{Claim, IdempotencyKey};
use crate::store::runs::NewRun;
use leadline_protocol::host::DeviceList;
use leadline_protocol::plan::Plan;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::problem::Problem;
use leadline_protocol::run::{RerunRequest, Run, RunRequest};
use serde_json::{Value, json};
use std::sync::Arc;

/// A run that was asked for.
pub struct Submitted {
    /// The run.
    pub run: Run,
    /// Whether the same request had made it before.
    pub replayed: bool,
}

impl Runs {
    /// What would happen.
    ///
    /// # Errors
    /// The runner did not answer.
    pub async fn plan(&self, request: &RunRequest) -> Result<Plan, ApiError> {
        let mut plan = self.0.runner.plan(&for_runner(request)).await?;
        plan.problems.extend(
            self.not_confirmed(request.confirm.as_deref(), &plan.jobs)
                .await?,
        );
        Ok(plan)
    }

    /// Refusals of what was typed to confirm that these devices may be overwritten.
    pub(crate) async fn not_confirmed(
        &self,
        confirm: Option<&str>,
        jobs: &[ResolvedJob],
    ) -> Result<Vec<Problem>, ApiError> {
        if !confirm::is_to_be_checked(confirm, jobs) {
            return Ok(Vec::new());
        }
        Ok(confirm::problems(
            confirm,
            jobs,
            &self.0.runner.devices().await?,
        ))
    }

    /// Queues a run, unless its plan is refused or the key came before.
    ///
    /// # Errors
    /// Refusals of the plan, a full queue, a key that came with another request, or a broken runner or store.
    pub async fn submit(
        &self,
        request: RunRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<Submitted, ApiError> {
        if let Some(key) = &key
            && let Some(submitted) = self.replay(self.0.store.claim(key).await?).await?
        {
            return Ok(submitted);
        }
        self.refuse_when_closed(1)?;
        let plan = self.plan(&request).await?;
        if !plan.problems.is_empty() {
            return Err(ApiError::Refused(plan.problems));
        }
        let new = self.new_run(request, plan).await?;
        // Nothing is kept and not queued.
        let runs = self.clone();
        to_its_end(async move { runs.admit(&new, key.as_ref()).await }).await
    }

    /// Queues the jobs of a run again, with changes where some are asked for.
    ///
    /// # Errors
    /// As `submit`, or there is no such run.
    pub async fn rerun(
        &self,
        number: u64,
        change: RerunRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<Submitted, ApiError> {
        let old = self.get(number).await?;
        let jobs = match &change.patch {
            Some(patch) => crate::api::requests::patched(&old.requested.jobs, patch),
            None => old.requested.jobs,
        };
        let request = RunRequest {
            jobs,
            sample_ms: Some(old.requested.sample_ms),
            host: Some(old.summary.host),
            name: Some(change.name.unwrap_or(old.summary.name)),
            tags: Some(change.tags.unwrap_or(old.summary.tags)),
            notes: None,
            confirm: change.confirm,
        };
        self.submit(request, key).await
    }

    pub(crate) async fn new_run(
        &self,
        request: RunRequest,
        plan: Plan,
    ) -> Result<NewRun, ApiError> {
        let devices = self.devices_under(&plan.jobs).await?;
        Ok(NewRun {
            name: request
                .name
                .or_else(|| plan.jobs.first().map(|job| job.name.clone()))
                .unwrap_or_default(),
            host: request
                .host
                .unwrap_or_else(|| crate::api::requests::LOCAL.into()),
            tags: request.tags.unwrap_or_default(),
            notes: request.notes.unwrap_or_default(),
            asked: request.jobs,
            sample_ms: plan.sample_ms,
            locks: locks_of(&plan.jobs, &devices),
            resolved: plan.jobs,
        })
    }

    /// The devices of the host, where a job touches any.
    pub(crate) async fn devices_under(&self, jobs: &[ResolvedJob]) -> Result<DeviceList, ApiError> {
        if touches_devices(jobs) {
            Ok(self.0.runner.devices().await?)
        } else {
            Ok(DeviceList::default())
        }
    }

    async fn admit(
        &self,
        new: &NewRun,
        key: Option<&IdempotencyKey>,
    ) -> Result<Submitted, ApiError> {
        let admission = self.0.admission.lock().await;
        self.refuse_when_closed(1)?;
        let (claim, number) = self
            .0
            .store
            .insert_run(new, key, crate::clock::now_ms(), &journal::first_entry()?)
            .await?;
        if let Some(submitted) = self.replay(claim).await? {
            return Ok(submitted);
        }
        self.enqueue(number, new.locks.clone());
        drop(admission);
        self.announce_run(number).await;
        self.announce_queue();
        // Read before it starts, so that the answer says what was queued.
        let run = self.get(number).await?;
        self.start_ready();
        Ok(Submitted {
            run,
            replayed: false,
        })
    }

    /// A run that was kept just now waits; its first event is in the store.
    pub(crate) fn enqueue(&self, number: u64, locks: Locks) {
        let mut board = self.board();
        board.lives.insert(number, Arc::new(Live::new(1)));
        board.queue.push(number, locks);
    }

    /// Whether so many more runs may be taken in.
    pub(crate) fn refuse_when_closed(&self, runs: usize) -> Result<(), ApiError> {
        if *self.0.phase.borrow() != Phase::Open {
            return Err(ApiError::Stopping);
        }
        match self.board().queue.counts().1 {
            waiting if waiting + runs > MAX_QUEUED => Err(ApiError::QueueFull(waiting)),
            _ => Ok(()),
        }
    }

    /// What a key that came before stands for; `None` when it is new.
    pub(crate) async fn replay(&self, claim: Claim) -> Result<Option<Submitted>, ApiError> {
        match claim {
            Claim::New => Ok(None),
            Claim::Replayed { run, .. } => match self.get(run).await {
                Err(ApiError::NotFound { what }) => Err(ApiError::made_and_deleted(&what)),
                run => Ok(Some(Submitted {
                    run: run?,
                    replayed: true,
                })),
            },
            Claim::Reused => Err(ApiError::key_reused()),
        }
    }
}

/// The run as the runner reads it.
fn for_runner(request: &RunRequest) -> Value {
    let mut run = json!({"jobs": request.jobs});
    if let Some(sample_ms) = request.sample_ms {
        run["sample_ms"] = sample_ms.into();
    }
    run
}
