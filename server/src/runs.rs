//! Runs: asked for, queued, conducted one by one from start to end, kept and told.
//!
//! `Runs` is the one way in. Who may start is decided by `queue`, what happened is written by `journal`, who listens
//! sees `live`. A run is started at most once: that it left the queue is on the disk before its runner is started, and
//! whatever had left the queue when the server died is `interrupted` when it comes back.

pub(crate) mod confirm;
pub(crate) mod submit;

use crate::error::ApiError;
use crate::events::buffer::Live;
use crate::events::journal::Journal;
use crate::scheduler::queue::Queue;
use crate::scheduler::state::Board;
use crate::scheduler::state::Phase;
use crate::scheduler::states::Stop;
use crate::store::Store;
use crate::supervisor::process::Runner;
use leadline_protocol::run::{Run, RunPatch, RunSummary, RunsEvent};
use leadline_protocol::status::RunStatus;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, broadcast, watch};

/// The most runs that wait: a script that has lost its way is stopped before it fills the disk.
pub const MAX_QUEUED: usize = 1_000;
/// Frames of `/events` that a listener may lag behind before it is sent away to list again.
const EVENTS_AHEAD: usize = 256;
/// The most listeners at once: each may hold a batch of events.
pub(crate) const MAX_LISTENERS: usize = 256;
/// How long runs may take to stop when the server stops; the rest of its five seconds is for the sockets.
const STOP_WITHIN: Duration = Duration::from_secs(4);

/// All runs; clones share them.
#[derive(Clone)]
pub struct Runs(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) runner: Runner,
    pub(crate) board: Mutex<Board>,
    /// Held while a run is taken in, so that the queue has the order of the numbers.
    pub(crate) admission: tokio::sync::Mutex<()>,
    pub(crate) announce: broadcast::Sender<Arc<str>>,
    /// Rings when a run came to its end.
    pub(crate) ended: watch::Sender<()>,
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) listeners: Arc<Semaphore>,
}

/// Does something to its end, even when the caller hangs up and its request is dropped half-way.
pub(crate) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::spawn(work)
        .await
        .map_err(|error| ApiError::Internal(error.into()))?
}

impl Runs {
    /// Runs of this store, done by this runner, `max_running` side by side. Call `recover` next.
    pub fn new(store: Store, runner: Runner, max_running: usize) -> Self {
        let board = Board {
            queue: Queue::new(max_running),
            lives: HashMap::new(),
            held: false,
        };
        Self(Arc::new(Shared {
            store,
            runner,
            board: Mutex::new(board),
            admission: tokio::sync::Mutex::new(()),
            announce: broadcast::Sender::new(EVENTS_AHEAD),
            ended: watch::Sender::new(()),
            phase: watch::Sender::new(Phase::Open),
            listeners: Arc::new(Semaphore::new(MAX_LISTENERS)),
        }))
    }

    /// Changes name, tags or notes.
    ///
    /// # Errors
    /// There is no such run, or the store cannot be written.
    pub async fn patch(&self, number: u64, patch: &RunPatch) -> Result<Run, ApiError> {
        if !self.0.store.patch_run(number, patch).await? {
            return Err(ApiError::no_run(number));
        }
        self.announce_run(number).await;
        self.get(number).await
    }

    /// Deletes a run that came to its end.
    ///
    /// # Errors
    /// There is none, it has not come to its end, or the store cannot be written.
    pub async fn delete(&self, number: u64) -> Result<(), ApiError> {
        let run = self.summary(number).await?;
        if !self.0.store.delete_run(number).await? {
            let sentence = format!(
                "Run #{number} is {}. Cancel it, then delete it.",
                run.status.word()
            );
            return Err(ApiError::Conflict {
                code: "not_ended",
                sentence,
            });
        }
        self.announce(&RunsEvent::Deleted { number });
        Ok(())
    }

    /// Cancels a run that waits or runs.
    ///
    /// # Errors
    /// There is none, it came to its end, or the store cannot be written.
    pub async fn cancel(&self, number: u64) -> Result<RunSummary, ApiError> {
        // It is not taken out of the queue and not kept as cancelled: after a restart it would wait again.
        let runs = self.clone();
        to_its_end(async move { runs.cancel_now(number).await }).await
    }

    pub(crate) async fn cancel_now(&self, number: u64) -> Result<RunSummary, ApiError> {
        let study = self.study_of(number).await;
        if !self.cancel_or_stop(number).await? {
            let run = self.summary(number).await?;
            let sentence = format!("Run #{number} is {} already.", run.status.word());
            return Err(ApiError::Conflict {
                code: "already_ended",
                sentence,
            });
        }
        if let Some(study) = study {
            self.end_rest(study).await;
            self.try_to_tidy_up(study).await;
        }
        self.summary(number).await
    }

    /// Ends a run that waits, or asks one that runs to stop; `false` when it came to its end before.
    pub(crate) async fn cancel_or_stop(&self, number: u64) -> anyhow::Result<bool> {
        if self
            .cancel_waiting(number, "Cancelled before it began.")
            .await?
        {
            return Ok(true);
        }
        let live = self.board().lives.get(&number).cloned();
        Ok(live
            .inspect(|live| live.ask_to_stop(Stop::Cancel))
            .is_some())
    }

    /// Ends a run that waits; `false` when it does not wait.
    pub(crate) async fn cancel_waiting(&self, number: u64, reason: &str) -> anyhow::Result<bool> {
        let (locks, live) = {
            let mut board = self.board();
            let Some(live) = board.lives.get(&number).cloned() else {
                return Ok(false);
            };
            let Some(locks) = board.queue.withdraw(number) else {
                return Ok(false);
            };
            (locks, live)
        };
        if let Err(error) = self.keep_cancelled(number, live, reason).await {
            self.board().queue.push(number, locks);
            return Err(error);
        }
        self.hang_up(number).await;
        self.release(number);
        Ok(true)
    }

    pub(crate) async fn keep_cancelled(
        &self,
        number: u64,
        live: Arc<Live>,
        reason: &str,
    ) -> anyhow::Result<()> {
        let mut journal =
            Journal::resume(number, RunStatus::Queued, self.0.store.clone(), live).await?;
        journal
            .move_to(RunStatus::Cancelled, Some(reason.into()))
            .await
            .map(drop)
    }

    /// Stops: nothing new is started, what runs ends with what it has, then listeners are sent away.
    pub async fn stop(&self) {
        self.0.phase.send_replace(Phase::Stopping);
        let mut ended = self.0.ended.subscribe();
        let running: Vec<Arc<Live>> = {
            let board = self.board();
            board
                .queue
                .running()
                .filter_map(|run| board.lives.get(&run).cloned())
                .collect()
        };
        running
            .iter()
            .for_each(|live| live.ask_to_stop(Stop::Server));
        let all_ended =
            async { while self.board().queue.counts().0 > 0 && ended.changed().await.is_ok() {} };
        if tokio::time::timeout(STOP_WITHIN, all_ended).await.is_err() {
            tracing::warn!(
                "a run did not stop in time; it will be marked interrupted at the next start"
            );
        }
        self.0.phase.send_replace(Phase::Closed);
    }

    pub(crate) fn board(&self) -> MutexGuard<'_, Board> {
        // A panic while it is held would leave numbers and locks as they were.
        self.0.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn announce(&self, event: &RunsEvent) {
        if let Ok(frame) = serde_json::to_string(event) {
            // Nobody listens: nothing to do.
            let _ = self.0.announce.send(frame.into());
        }
    }

    pub(crate) async fn announce_run(&self, number: u64) {
        match self.summary(number).await {
            Ok(run) => {
                let study = run.study;
                self.announce(&RunsEvent::Run { run: Box::new(run) });
                if let Some(study) = study {
                    self.announce_study(study).await;
                }
            }
            Err(error) => tracing::error!(run = number, %error, "a run cannot be announced"),
        }
    }

    pub(crate) fn announce_queue(&self) {
        let (running, queued) = self.counts();
        self.announce(&RunsEvent::Queue { running, queued });
    }

    /// A run came to its end, and its last event is kept: its listeners end, lists hear of it.
    pub(crate) async fn hang_up(&self, number: u64) {
        self.send_listeners_away(number);
        self.announce_run(number).await;
    }

    pub(crate) fn send_listeners_away(&self, number: u64) {
        let live = self.board().lives.remove(&number);
        if let Some(live) = live {
            live.end();
        }
    }

    /// A run gives its locks back.
    pub(crate) fn release(&self, number: u64) {
        self.board().queue.finish(number);
        self.0.ended.send_replace(());
        self.start_ready();
        self.announce_queue();
    }

    /// Starts whatever may start.
    pub(crate) fn start_ready(&self) {
        loop {
            let (number, live) = {
                let mut board = self.board();
                if board.held || *self.0.phase.borrow() != Phase::Open {
                    return;
                }
                let Some(number) = board.queue.start_next() else {
                    return;
                };
                let Some(live) = board.lives.get(&number).cloned() else {
                    continue;
                };
                (number, live)
            };
            tokio::spawn(crate::supervisor::supervise::conduct(
                self.clone(),
                number,
                live,
            ));
        }
    }
}
