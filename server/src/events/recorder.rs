//! Stores the events of a run in the background, in order. A slow or full disk delays neither the
//! runner nor live subscribers nor a request to stop.

use crate::{
    events::buffer::EventBuffer,
    rollups::builder::Rollup,
    store::{Store, entry::Entry, fault::fault},
};
use anyhow::{Result, ensure};
use leadline_protocol::{
    event::EventBody,
    status::{RunStatus, StatusChange},
};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::{MissedTickBehavior, interval, sleep},
};

/// Maximum delay of samples and progress events.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// Bounds the size of a transaction when the sampling interval is short.
const MAX_PENDING: usize = 64;
/// Writes that wait for the disk: seven minutes at the default sampling interval, a few ten MiB.
const MAX_QUEUED: usize = 4096;

/// Events that wait in memory while the database cannot be written: about two hours at the default
/// sampling interval. Then the run fails.
const MAX_WAITING_BYTES: usize = 64 << 20;

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
            pending: VecDeque::new(),
            bytes: 0,
            is_waiting: false,
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

/// Events that are stored in one transaction.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    rollups: Vec<Rollup>,
    update: Option<Update>,
}

struct Task {
    run: u64,
    store: Store,
    buffer: Arc<EventBuffer>,
    status: watch::Sender<RunStatus>,
    /// Not stored yet, in order. Only the last one may be without an update.
    pending: VecDeque<Batch>,
    /// Of the pending events.
    bytes: usize,
    /// The last attempt to store them failed.
    is_waiting: bool,
}

impl Task {
    async fn run(mut self, mut queue: mpsc::Receiver<Write>) -> Result<()> {
        let mut flush = interval(FLUSH_INTERVAL);
        flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                write = queue.recv() => match write {
                    Some(write) => self.add(write).await?,
                    None => return self.store_the_rest().await,
                },
                _ = flush.tick() => self.store_pending().await?,
            }
        }
    }

    async fn add(&mut self, write: Write) -> Result<()> {
        let is_open = |batch: &Batch| batch.update.is_none();
        if !self.pending.back().is_some_and(is_open) {
            self.pending.push_back(Batch::default());
        }
        if let Some(batch) = self.pending.back_mut() {
            self.bytes += write.entries.iter().map(Entry::bytes).sum::<usize>();
            batch.entries.extend(write.entries);
            batch.rollups.extend(write.rollups);
            batch.update = write.update;
            let is_due = batch.update.is_some() || batch.entries.len() >= MAX_PENDING;
            if is_due && !self.is_waiting {
                return self.store_pending().await;
            }
        }
        ensure!(
            self.bytes <= MAX_WAITING_BYTES,
            "the database could not be written for too long"
        );
        Ok(())
    }

    /// Keeps what cannot be stored now: the measurement goes on while the disk is full, or while
    /// another process has locked the database.
    ///
    /// # Errors
    /// Errors that a later attempt would not solve.
    async fn store_pending(&mut self) -> Result<()> {
        while let Some(batch) = self.pending.front() {
            match self.store_batch(batch).await {
                Ok(()) => self.remove_stored(),
                Err(error) if fault(&error).is_some() => {
                    if !std::mem::replace(&mut self.is_waiting, true) {
                        tracing::warn!(run = self.run, "events wait for the database: {error:#}");
                    }
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        if std::mem::take(&mut self.is_waiting) {
            tracing::info!(run = self.run, "all waiting events are stored");
        }
        Ok(())
    }

    async fn store_the_rest(&mut self) -> Result<()> {
        loop {
            self.store_pending().await?;
            if self.pending.is_empty() {
                return Ok(());
            }
            sleep(FLUSH_INTERVAL).await;
        }
    }

    async fn store_batch(&self, batch: &Batch) -> Result<()> {
        let (entries, rollups) = (&batch.entries, &batch.rollups);
        let Some(Update {
            from, change, body, ..
        }) = &batch.update
        else {
            return self.store.append(self.run, entries, rollups).await;
        };
        let updated = self
            .store
            .update_run(self.run, *from, change, body.as_ref(), entries, rollups)
            .await?;
        let from = from.as_str();
        ensure!(updated, "run #{} is not {from} in the store", self.run);
        Ok(())
    }

    /// Removes the first batch, which is stored.
    fn remove_stored(&mut self) {
        let Some(batch) = self.pending.pop_front() else {
            return;
        };
        self.bytes -= batch.entries.iter().map(Entry::bytes).sum::<usize>();
        if let Some(last) = batch.entries.last() {
            self.buffer.mark_stored(last.seq + 1);
        }
        let Some(update) = batch.update else { return };
        if let Some(stored) = update.stored {
            // Fails only if the caller has gone.
            let _ = stored.send(());
        }
        let to = update.change.status;
        self.status
            .send_if_modified(|status| std::mem::replace(status, to) != to);
    }
}
