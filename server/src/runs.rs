//! The service that manages runs and studies.
//!
//! `Runs` is implemented in several modules: user operations here and in the submodules, runner
//! processes in `supervisor`, and studies in `studies`. A run is started at most once: the status
//! change from `queued` is on disk before its runner starts, and runs that had left the queue when
//! the server crashed become `interrupted`.

mod annotations;
pub(crate) mod cancel;
pub(crate) mod compare;
pub(crate) mod foreign;
mod import;
pub(crate) mod maintenance;
pub(crate) mod publish;
pub(crate) mod read;
pub(crate) mod settings;
pub(crate) mod shutdown;
pub(crate) mod state;
mod state_cache;
pub(crate) mod submit;
pub(crate) mod trend_state;
pub(crate) mod trends;

use crate::{
    error::Error,
    events::{buffer::EventBuffer, journal::Journal},
    runs::{
        state::{SchedulerState, ServerPhase},
        state_cache::StateCache,
    },
    scheduler::queue::Queue,
    store::{Store, runs::PatchOutcome},
    supervisor::runner::Runner,
};
use leadline_protocol::{
    run::{Run, RunPatch},
    runs_event::RunsEvent,
    status::RunStatus,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{Notify, Semaphore, broadcast, watch};

/// Maximum number of `RunsEvent`s buffered for a slow subscriber.
const MAX_LAG: usize = 256;

/// Clones share state.
#[derive(Clone)]
pub(crate) struct Runs {
    pub store: Store,
    pub runner: Runner,
    scheduler: Arc<Mutex<SchedulerState>>,
    /// Held from when a run is inserted until it is queued, so the queue is ordered by run number.
    pub admission: Arc<tokio::sync::Mutex<()>>,
    /// `RunsEvent`s as JSON.
    pub changes: broadcast::Sender<Arc<str>>,
    /// Notified when a run has released its locks.
    pub released: watch::Sender<()>,
    /// Notified when a run has been deleted.
    pub deleted: Arc<Notify>,
    trend_states: Arc<StateCache>,
    pub phase: watch::Sender<ServerPhase>,
    max_streams: usize,
    pub stream_permits: Arc<Semaphore>,
}

/// Runs a task to completion even if the client disconnects and its request is dropped.
pub(crate) async fn run_detached<T: Send + 'static>(
    task: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(task)
        .await
        .map_err(|error| Error::Internal(error.into()))?
}

impl Runs {
    /// The caller must call `recover` next.
    pub(crate) fn new(
        store: Store,
        runner: Runner,
        max_running: usize,
        max_streams: usize,
    ) -> Self {
        let scheduler = SchedulerState {
            queue: Queue::new(max_running),
            active_runs: HashMap::new(),
            paused: false,
        };
        Self {
            store,
            runner,
            scheduler: Arc::new(Mutex::new(scheduler)),
            admission: Arc::default(),
            changes: broadcast::Sender::new(MAX_LAG),
            released: watch::Sender::new(()),
            deleted: Arc::default(),
            trend_states: Arc::default(),
            phase: watch::Sender::new(ServerPhase::Open),
            max_streams,
            stream_permits: Arc::new(Semaphore::new(max_streams)),
        }
    }

    pub(crate) fn scheduler(&self) -> MutexGuard<'_, SchedulerState> {
        // Poisoning is ignored because a panic leaves the state consistent.
        self.scheduler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the status of a run that has no runner. `epoch` is `COMPLETE` or `SHORTENED`.
    pub(crate) async fn set_status(
        &self,
        number: u64,
        from: RunStatus,
        to: RunStatus,
        reason: &str,
        buffer: Arc<EventBuffer>,
        epoch: u32,
    ) -> anyhow::Result<()> {
        let store = self.store.clone();
        let mut journal = Journal::resume(number, from, store, buffer, None, epoch).await?;
        let changed = journal.change_status(to, Some(reason.into())).await;
        journal.close().await?;
        changed.map(|_| ())
    }

    /// Changes the name, tags or notes. `expected` is the etag of the version that the caller has
    /// read.
    pub(crate) async fn patch(
        &self,
        number: u64,
        patch: &RunPatch,
        expected: Option<&str>,
    ) -> Result<Run, Error> {
        match self.store.patch_run(number, patch, expected).await? {
            PatchOutcome::Done => {}
            PatchOutcome::Missing => return Err(Error::run_not_found(number)),
            PatchOutcome::Changed => return Err(Error::ChangedMeanwhile(number)),
        }
        self.publish_run(number).await;
        self.get(number).await
    }

    /// Deletes a finished run. Its events are deleted in the background.
    pub(crate) async fn delete(&self, number: u64) -> Result<(), Error> {
        let runs = self.clone();
        // Runs in its own task: dropping a transaction midway would hold its lock until its
        // statement ends.
        run_detached(async move { runs.delete_run(number).await }).await
    }

    async fn delete_run(&self, number: u64) -> Result<(), Error> {
        let run = self.summary(number).await?;
        if !self.store.delete_run(number).await? {
            let status = run.status.as_str();
            return Err(Error::Conflict {
                code: "not_ended",
                detail: format!("Run #{number} is {status}. Cancel it before deleting it."),
            });
        }
        self.deleted.notify_one();
        self.publish(&RunsEvent::Deleted { number });
        Ok(())
    }
}
