//! Starts scheduled runs and studies.

use crate::{
    clock::now_ms,
    error::Error,
    runs::Runs,
    schedules::{
        cron::zoned_cron,
        due::{State, decide, quiet_reason},
        rejection,
        validate::{Document, parse_document},
    },
    store::{
        keys::{IdempotencyKey, KeyUse},
        schedule_starts::{ActiveStart, Start},
        schedules::StoredSchedule,
    },
    webhooks::messages::{missed_start, run_failed},
};
use leadline_protocol::schedule::StartResult;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

const TICK: Duration = Duration::from_secs(1);
/// If a start is delayed by more than this, for example because the disk is full, it counts as
/// missed.
const MAX_PENDING_MS: u64 = 60 * 60 * 1000;

impl Runs {
    /// Starts due runs and studies until the server exits.
    pub(crate) async fn run_schedules(self) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut logged = String::new();
        loop {
            ticks.tick().await;
            let error = match self.tick_schedules(now_ms()).await {
                Ok(()) => String::new(),
                Err(error) => error.to_string(),
            };
            if !error.is_empty() && error != logged {
                tracing::error!("cannot start scheduled runs: {error}");
            }
            logged = error;
        }
    }

    async fn tick_schedules(&self, now_ms: u64) -> Result<(), Error> {
        // First, complete the starts that the previous server process did not complete.
        self.finish_ended_starts().await?;
        self.start_pending(now_ms).await?;
        let mut active = self.store.active_starts().await?;
        // A damaged schedule does not prevent the starts of the others.
        let mut failure = None;
        for schedule in self.store.schedules().await? {
            if schedule.definition.enabled {
                let previous = active
                    .iter()
                    .find(|start| start.schedule == schedule.number);
                let decided = self.decide(&schedule, previous, now_ms).await;
                failure = failure.or(decided.err());
            }
        }
        active = self.store.active_starts().await?;
        if active.iter().any(is_pending) {
            self.start_pending(now_ms).await?;
        }
        failure.map_or(Ok(()), Err)
    }

    async fn decide(
        &self,
        schedule: &StoredSchedule,
        previous: Option<&ActiveStart>,
        now_ms: u64,
    ) -> Result<(), Error> {
        let cron = zoned_cron(&schedule.definition)?;
        let active = previous.map(label);
        let state = State {
            cron: &cron,
            quiet_hours: &schedule.definition.quiet_hours,
            handled_until_ms: schedule.handled_until_ms,
            active: active.as_deref(),
        };
        if let Some(decision) = decide(&state, now_ms) {
            let store = &self.store;
            let name = (schedule.number, schedule.definition.name.as_str());
            let message = |start: &Start| missed_start(name, start, now_ms);
            let stored = store.store_decision(schedule, &decision, now_ms, message);
            stored.await?;
        }
        Ok(())
    }

    async fn start_pending(&self, now_ms: u64) -> Result<(), Error> {
        for start in self.store.active_starts().await? {
            if is_pending(&start) {
                self.start_scheduled(&start, now_ms).await?;
            }
        }
        Ok(())
    }

    async fn start_scheduled(&self, start: &ActiveStart, now_ms: u64) -> Result<(), Error> {
        // The server may have been killed after it queued the run.
        let key = key(start);
        match self.store.find_key(&key).await? {
            Some(KeyUse::Replayed {
                study: Some(study), ..
            }) => {
                return Ok(self.store.link_start(start.id, None, Some(study)).await?);
            }
            Some(KeyUse::Replayed { run, .. }) => {
                return Ok(self.store.link_start(start.id, Some(run), None).await?);
            }
            Some(KeyUse::Reused) | None => {}
        }
        if let Some((result, reason)) = self.reason_to_abandon(start, now_ms).await? {
            self.finish_start(start, result, &reason).await?;
            return Ok(());
        }
        let Some(schedule) = self.store.schedule(start.schedule).await? else {
            return Ok(());
        };
        let (result, reason) = match self.submit_scheduled(&schedule, start, key).await {
            Ok(()) => return Ok(()),
            Err(Error::QueueFull(waiting)) => {
                let reason = format!("The queue is full ({waiting} runs are waiting).");
                (StartResult::Missed, reason)
            }
            Err(error @ (Error::Stopping | Error::Store(_) | Error::Internal(_))) => {
                return Err(error);
            }
            Err(error) => (StartResult::Rejected, rejection::reason(&error)),
        };
        self.finish_start(start, result, &reason).await?;
        Ok(())
    }

    /// Stores why a run did not start.
    async fn finish_start(
        &self,
        start: &ActiveStart,
        result: StartResult,
        reason: &str,
    ) -> anyhow::Result<()> {
        let Some(schedule) = self.store.schedule(start.schedule).await? else {
            return Ok(());
        };
        let (name, now_ms) = (schedule.definition.name, now_ms());
        let message = if result == StartResult::Rejected {
            Some(run_failed(&name, start, None, Some(reason), now_ms))
        } else {
            let missed = Start::new(start.due_at_ms, result, Some(reason.into()));
            missed_start((start.schedule, &name), &missed, now_ms)
        };
        self.store
            .finish_start(start, result, reason, message)
            .await
    }

    /// Returns the reason to abandon a pending start, if there is one.
    async fn reason_to_abandon(
        &self,
        start: &ActiveStart,
        now_ms: u64,
    ) -> Result<Option<(StartResult, String)>, Error> {
        if now_ms.saturating_sub(start.decided_ms) > MAX_PENDING_MS {
            let reason = "The run or study could not be started within an hour.".into();
            return Ok(Some((StartResult::Missed, reason)));
        }
        let quiet = self.quiet_now(start.schedule, now_ms).await?;
        Ok(quiet.map(|reason| (StartResult::Skipped, reason)))
    }

    async fn quiet_now(&self, schedule: u64, now_ms: u64) -> anyhow::Result<Option<String>> {
        let Some(schedule) = self.store.schedule(schedule).await? else {
            return Ok(None);
        };
        let cron = zoned_cron(&schedule.definition)?;
        let state = State {
            cron: &cron,
            quiet_hours: &schedule.definition.quiet_hours,
            handled_until_ms: schedule.handled_until_ms,
            active: None,
        };
        Ok(quiet_reason(&state, now_ms))
    }

    async fn submit_scheduled(
        &self,
        schedule: &StoredSchedule,
        start: &ActiveStart,
        key: IdempotencyKey,
    ) -> Result<(), Error> {
        let definition = &schedule.definition;
        let document = parse_document(&definition.document, &definition.tags);
        let (run, study) = match document.map_err(Error::Rejected)? {
            Document::Run(run) => {
                let submitted = self.submit(*run, Some(key)).await?;
                (Some(submitted.created.summary.number), None)
            }
            Document::Study(study) => {
                let submitted = self.submit_study(*study, Some(key)).await?;
                (None, Some(submitted.created.summary.number))
            }
        };
        let schedule = schedule.number;
        tracing::info!(schedule, run, study, "started a schedule");
        Ok(self.store.link_start(start.id, run, study).await?)
    }

    /// Returns why a scheduled run must be skipped instead of leaving the queue, if there is a
    /// reason. Quiet hours apply only to the first run in a study; if it is skipped, so are the
    /// remaining runs.
    pub(crate) async fn skip_in_quiet_hours(
        &self,
        run: u64,
        study: Option<u64>,
    ) -> anyhow::Result<Option<String>> {
        let Some((start, is_skipped)) = self.store.find_start(run, study).await? else {
            return Ok(None);
        };
        if is_skipped {
            return Ok(Some("Not started: the study was skipped.".into()));
        }
        if let Some(study) = study
            && self.store.has_started(study).await?
        {
            return Ok(None);
        }
        let Some(reason) = self.quiet_now(start.schedule, now_ms()).await? else {
            return Ok(None);
        };
        let result = StartResult::Skipped;
        self.finish_start(&start, result, &reason).await?;
        Ok(Some(format!("Not started: {reason}")))
    }
}

fn is_pending(start: &ActiveStart) -> bool {
    start.run.is_none() && start.study.is_none()
}

fn label(start: &ActiveStart) -> String {
    match (start.run, start.study) {
        (_, Some(study)) => format!("study #{study}"),
        (Some(run), None) => format!("run #{run}"),
        (None, None) => "about to start".into(),
    }
}

/// Returns the idempotency key of a start. It does not cover the document, which may change before
/// a retry.
fn key(start: &ActiveStart) -> IdempotencyKey {
    IdempotencyKey {
        key: format!("schedule {} due {}", start.schedule, start.due_at_ms),
        request_sha256: [0; 32],
    }
}
