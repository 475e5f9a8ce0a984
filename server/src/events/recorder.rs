//! Stores the events of a run in the background, in order. A slow disk delays neither the runner
//! nor live subscribers nor a request to stop.

use crate::{
    events::buffer::EventBuffer,
    rollups::builder::Rollup,
    store::{Store, entry::Entry},
};
use anyhow::{Result, ensure};
use leadline_protocol::{
    event::EventBody,
    status::{RunStatus, StatusChange},
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Maximum delay of samples and progress events.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// Bounds the size of a transaction when the sampling interval is short.
const MAX_PENDING: usize = 64;
/// Writes that wait for the disk: seven minutes at the default sampling interval, a few ten MiB.
const MAX_QUEUED: usize = 4096;

/// Events to store.
pub(super) struct Write {
    pub entries: Vec<Entry>,
    pub rollups: Vec<Rollup>,
    /// Stored immediately if present.
    pub update: Option<Update>,
}

/// A change of the run that is stored with its events.
pub(super) struct Update {
    pub from: RunStatus,
    pub change: StatusChange,
    pub body: Option<EventBody>,
    /// Notified when the change is on disk.
    pub stored: Option<oneshot::Sender<()>>,
}

/// Handle of the background task.
pub(super) struct Recorder {
    writes: mpsc::Sender<Write>,
    status: watch::Receiver<RunStatus>,
    task: JoinHandle<Result<()>>,
}

impl Recorder {
    pub(super) fn spawn(
        run: u64,
        status: RunStatus,
        store: Store,
        buffer: Arc<EventBuffer>,
    ) -> Self {
        let (writes, queue) = mpsc::channel(MAX_QUEUED);
        let (status_sender, status) = watch::channel(status);
        let task = Task {
            run,
            store,
            buffer,
            status: status_sender,
            pending: Vec::new(),
            rollups: Vec::new(),
        };
        Self {
            writes,
            status,
            task: tokio::spawn(task.run(queue)),
        }
    }

    /// Waits until `send` succeeds. Returns when the task has failed, too. Cancel safe.
    pub(super) async fn ready(&self) {
        let _ = self.writes.reserve().await;
    }

    /// Completes when the task has failed.
    pub(super) async fn failed(&self) {
        self.writes.closed().await;
    }

    /// # Errors
    /// Fails if the task has failed; `close` returns the cause.
    pub(super) async fn send(&self, write: Write) -> Result<()> {
        Ok(self.writes.send(write).await?)
    }

    /// Changes when a status is stored.
    pub(super) fn stored_status(&self) -> watch::Receiver<RunStatus> {
        self.status.clone()
    }

    /// Waits until all events are stored.
    pub(super) async fn close(self) -> Result<()> {
        drop(self.writes);
        self.task.await?
    }
}

struct Task {
    run: u64,
    store: Store,
    buffer: Arc<EventBuffer>,
    status: watch::Sender<RunStatus>,
    /// Not stored yet.
    pending: Vec<Entry>,
    rollups: Vec<Rollup>,
}

impl Task {
    async fn run(mut self, mut queue: mpsc::Receiver<Write>) -> Result<()> {
        let mut flush = interval(FLUSH_INTERVAL);
        flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                write = queue.recv() => match write {
                    Some(write) => self.add(write).await?,
                    None => return self.flush().await,
                },
                _ = flush.tick() => self.flush().await?,
            }
        }
    }

    async fn add(&mut self, write: Write) -> Result<()> {
        self.pending.extend(write.entries);
        self.rollups.extend(write.rollups);
        match write.update {
            Some(update) => self.update(update).await,
            None if self.pending.len() >= MAX_PENDING => self.flush().await,
            None => Ok(()),
        }
    }

    async fn flush(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.store
                .append(self.run, &self.pending, &self.rollups)
                .await?;
            self.clear_pending();
        }
        Ok(())
    }

    async fn update(&mut self, update: Update) -> Result<()> {
        let Update {
            from, change, body, ..
        } = &update;
        let updated = self
            .store
            .update_run(
                self.run,
                *from,
                change,
                body.as_ref(),
                &self.pending,
                &self.rollups,
            )
            .await?;
        let from = from.as_str();
        ensure!(updated, "run #{} is not {from} in the store", self.run);
        self.clear_pending();
        if let Some(stored) = update.stored {
            // Fails only if the caller has gone.
            let _ = stored.send(());
        }
        let to = update.change.status;
        self.status
            .send_if_modified(|status| std::mem::replace(status, to) != to);
        Ok(())
    }

    fn clear_pending(&mut self) {
        if let Some(last) = self.pending.pop() {
            self.buffer.mark_stored(last.seq + 1);
        }
        self.pending.clear();
        self.rollups.clear();
    }
}
