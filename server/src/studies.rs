//! Studies: ordered runs started together. All runs of a study are taken in at once and wait in the queue; a lock of their
//! own keeps them in order. A step that failed ends those behind it (`ending`), in the same way before and after a restart,
//! and nothing is kept that the runs do not tell.
//!
//! Not here: what stands in a study (the runner's `study`), how one run is done (`conduct`).

pub(crate) mod ending;
pub(crate) mod experiments;
pub(crate) mod standing;

use crate::error::ApiError;
use crate::events::journal;
use crate::runs::{Runs, to_its_end};
use crate::scheduler::locks::{locks_of, of_study};
use crate::store::keys::{Claim, IdempotencyKey};
use crate::store::runs::NewRun;
use crate::store::studies::{NewStudy, StepWords};
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::run::{RunSummary, RunsEvent};
use leadline_protocol::study::record::{Study, StudyList, StudyQuery, StudySummary};
use leadline_protocol::study::{StepPlan, StudyPlan};
use serde_json::Value;

/// Studies on one page when nothing is said.
const DEFAULT_LIMIT: u32 = 50;
/// The most on one page: each brings the rows of all its runs.
const MAX_LIMIT: u32 = 100;

/// A study as asked for.
#[derive(Clone, Debug)]
pub struct StudyRequest {
    /// What the runner reads.
    pub document: Value,
    /// The host to run on.
    pub host: Option<String>,
    /// Tags of all its runs.
    pub tags: Option<Vec<String>>,
    /// The serial number of the device to be overwritten, typed by its owner.
    pub confirm: Option<String>,
}

/// A study that was asked for.
pub struct Submitted {
    /// The study.
    pub study: Study,
    /// Whether the same request had made it before.
    pub replayed: bool,
}

impl Runs {
    /// What a study would do.
    ///
    /// # Errors
    /// The runner did not answer.
    pub async fn plan_study(&self, request: &StudyRequest) -> Result<StudyPlan, ApiError> {
        let mut plan = self.0.runner.plan_study(&request.document).await?;
        let jobs: Vec<ResolvedJob> = plan
            .steps
            .iter()
            .flat_map(|step| step.plan.jobs.clone())
            .collect();
        plan.problems.extend(
            self.not_confirmed(request.confirm.as_deref(), &jobs)
                .await?,
        );
        Ok(plan)
    }

    /// Queues all runs of a study, unless the plan of one is refused or the key came before.
    ///
    /// # Errors
    /// Refusals of any step, a full queue, a key that came with another request, or a broken runner or store.
    pub async fn submit_study(
        &self,
        request: StudyRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<Submitted, ApiError> {
        if let Some(key) = &key
            && let Some(submitted) = self.replay_study(self.0.store.claim(key).await?).await?
        {
            return Ok(submitted);
        }
        self.refuse_when_closed(1)?;
        let plan = self.plan_study(&request).await?;
        if !plan.problems.is_empty() {
            return Err(ApiError::Refused(plan.problems));
        }
        let new = self.new_study(request, plan).await?;
        // Nothing is kept and not queued.
        let runs = self.clone();
        to_its_end(async move { runs.admit_study(&new, key.as_ref()).await }).await
    }

    async fn new_study(
        &self,
        request: StudyRequest,
        plan: StudyPlan,
    ) -> Result<NewStudy, ApiError> {
        let all: Vec<_> = plan
            .steps
            .iter()
            .flat_map(|step| step.plan.jobs.clone())
            .collect();
        let devices = self.devices_under(&all).await?;
        let (host, tags) = (
            request
                .host
                .unwrap_or_else(|| crate::api::requests::LOCAL.into()),
            request.tags.unwrap_or_default(),
        );
        let (study, own) = (plan.words.name.clone(), plan.own());
        let run = |step: &StepPlan| NewRun {
            name: format!("{study}: {}", step.name),
            host: host.clone(),
            tags: tags.clone(),
            notes: step.note.clone().unwrap_or_default(),
            asked: step.jobs.clone(),
            sample_ms: step.plan.sample_ms,
            resolved: step.plan.jobs.clone(),
            locks: locks_of(&step.plan.jobs, &devices),
        };
        let words = |step: &StepPlan| StepWords {
            name: step.name.clone(),
            note: step.note.clone(),
        };
        Ok(NewStudy {
            steps: plan
                .steps
                .iter()
                .map(|step| (words(step), run(step)))
                .collect(),
            words: plan.words,
            scaled: plan.scaled,
            continue_on_failure: plan.continue_on_failure,
            mark: own.file_id,
            own_files: own.files,
        })
    }

    async fn admit_study(
        &self,
        new: &NewStudy,
        key: Option<&IdempotencyKey>,
    ) -> Result<Submitted, ApiError> {
        let admission = self.0.admission.lock().await;
        self.refuse_when_closed(new.steps.len())?;
        let lock = |study: u64, run: &mut NewRun| run.locks.extend([of_study(study)]);
        let (claim, number, runs) = self
            .0
            .store
            .insert_study(
                new,
                key,
                crate::clock::now_ms(),
                &journal::first_entry()?,
                lock,
            )
            .await?;
        if let Some(submitted) = self.replay_study(claim).await? {
            return Ok(submitted);
        }
        let numbers: Vec<u64> = runs.iter().map(|(run, _)| *run).collect();
        runs.into_iter()
            .for_each(|(run, new)| self.enqueue(run, new.locks));
        drop(admission);
        for run in numbers {
            self.announce_run(run).await;
        }
        self.announce_queue();
        // Read before it starts, so that the answer says what was queued.
        let study = self.study(number).await?;
        self.start_ready();
        Ok(Submitted {
            study,
            replayed: false,
        })
    }

    /// What a key that came before stands for; `None` when it is new.
    pub(crate) async fn replay_study(&self, claim: Claim) -> Result<Option<Submitted>, ApiError> {
        match claim {
            Claim::New => Ok(None),
            Claim::Replayed { study, .. } => {
                match self.study(study.ok_or_else(ApiError::key_reused)?).await {
                    Err(ApiError::NotFound { what }) => Err(ApiError::made_and_deleted(&what)),
                    study => Ok(Some(Submitted {
                        study: study?,
                        replayed: true,
                    })),
                }
            }
            Claim::Reused => Err(ApiError::key_reused()),
        }
    }

    /// One study with its runs.
    ///
    /// # Errors
    /// There is none, or the store cannot be read.
    pub async fn study(&self, number: u64) -> Result<Study, ApiError> {
        let mut stored = self
            .0
            .store
            .study(number)
            .await?
            .ok_or(ApiError::no_study(number))?;
        stored.runs = stored
            .runs
            .into_iter()
            .map(|run| self.placed(run))
            .collect();
        let verdicts = self.0.store.verdicts_of_study(number).await?;
        Ok(standing::study(stored, &verdicts))
    }

    /// A page of studies, newest first.
    ///
    /// # Errors
    /// Bad fields, or the store cannot be read.
    pub async fn studies(&self, query: &StudyQuery) -> Result<StudyList, ApiError> {
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let remedy = format!("Write a number from 1 to {MAX_LIMIT}.");
            return Err(ApiError::invalid(
                "bad_value",
                "limit",
                format!("{limit} studies are no page."),
                remedy,
            ));
        }
        let (stored, total) = self.0.store.studies(query.cursor, limit + 1).await?;
        let more = stored.len() > limit as usize;
        let studies: Vec<StudySummary> = stored
            .iter()
            .take(limit as usize)
            .map(standing::summary)
            .collect();
        let next_cursor = studies
            .last()
            .filter(|_| more)
            .map(|study| study.number.to_string());
        Ok(StudyList {
            studies,
            next_cursor,
            total,
        })
    }

    /// Cancels the steps of a study that wait or run. The last first, so that none begins meanwhile.
    ///
    /// # Errors
    /// There is none, it came to its end, or the store cannot be written.
    pub async fn cancel_study(&self, number: u64) -> Result<StudySummary, ApiError> {
        // No step is taken out of the queue and not kept as cancelled.
        let runs = self.clone();
        to_its_end(async move { runs.cancel_steps(number).await }).await
    }

    pub(crate) async fn cancel_steps(&self, number: u64) -> Result<StudySummary, ApiError> {
        let stored = self
            .0
            .store
            .study(number)
            .await?
            .ok_or(ApiError::no_study(number))?;
        let open: Vec<u64> = stored
            .runs
            .iter()
            .filter(|run| !run.status.is_final())
            .map(|run| run.number)
            .collect();
        if open.is_empty() {
            let sentence = format!(
                "Study #{number} is {} already.",
                standing::summary(&stored).status.word()
            );
            return Err(ApiError::Conflict {
                code: "already_ended",
                sentence,
            });
        }
        for run in open.into_iter().rev() {
            self.cancel_or_stop(run).await?;
        }
        self.tidy_up(number).await?;
        Ok(standing::summary(
            &self
                .0
                .store
                .study(number)
                .await?
                .ok_or(ApiError::no_study(number))?,
        ))
    }

    /// The mark of the study that a run is a step of.
    pub(crate) async fn study_mark(&self, run: &RunSummary) -> anyhow::Result<Option<String>> {
        let Some(study) = run.study else {
            return Ok(None);
        };
        Ok(self.0.store.study(study).await?.map(|study| study.mark))
    }

    pub(crate) async fn announce_study(&self, number: u64) {
        match self.0.store.study(number).await {
            Ok(Some(stored)) => self.announce(&RunsEvent::Study {
                study: Box::new(standing::summary(&stored)),
            }),
            // It went with the last of its runs.
            Ok(None) => {}
            Err(error) => tracing::error!(study = number, %error, "a study cannot be announced"),
        }
    }
}
