//! Stores a run's events in the background, in order. A slow disk does not delay the runner, live
//! subscribers or a stop request. While the database does not accept writes, events wait in a
//! spool.

use crate::{
    events::{buffer::EventBuffer, spool::Spool},
    fail_point,
    store::{Store, fault::StoreFault, update::Record},
};
use anyhow::Result;
use leadline_protocol::status::RunStatus;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

/// Maximum time that samples and progress events wait before they are written.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// Limits the transaction size when the sampling interval is short.
const MAX_PENDING: usize = 64;
/// Maximum number of writes queued while the disk is slow: seven minutes of samples at the default
/// sampling interval, tens of MiB.
const MAX_QUEUED: usize = 4096;

/// Interval between attempts to store spooled events.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Spooled records per transaction.
const BATCH: usize = 64;

/// A record to store. A record with an update is stored immediately.
pub(super) struct Write {
    pub record: Record,
    /// Notified when the record is in the database.
    pub stored: Option<oneshot::Sender<()>>,
}

/// Handle to the background task.
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
        spool: Option<Spool>,
    ) -> Self {
        let (writes, queue) = mpsc::channel(MAX_QUEUED);
        let (status_sender, status) = watch::channel(status);
        let task = Task {
            run,
            store,
            buffer,
            status: status_sender,
            pending: Vec::new(),
            waiting: None,
            spool,
            retry_at: Instant::now(),
        };
        Self {
            writes,
            status,
            task: tokio::spawn(task.run(queue)),
        }
    }

    /// Waits until `send` can return immediately or the task has failed. Cancel safe.
    pub(super) async fn ready(&self) {
        let _ = self.writes.reserve().await;
    }

    /// Completes if the task has failed.
    pub(super) async fn failed(&self) {
        self.writes.closed().await;
    }

    /// # Errors
    /// The task has failed; `close` returns the cause.
    pub(super) async fn send(&self, write: Write) -> Result<()> {
        Ok(self.writes.send(write).await?)
    }

    /// Receives each run status after it has been stored.
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
    /// Records that are not yet in the database or the spool.
    pending: Vec<Record>,
    /// Signaled when the last record has been stored.
    waiting: Option<oneshot::Sender<()>>,
    spool: Option<Spool>,
    /// Time of the next attempt to store spooled records.
    retry_at: Instant,
}

impl Task {
    async fn run(mut self, mut queue: mpsc::Receiver<Write>) -> Result<()> {
        let mut flush = interval(FLUSH_INTERVAL);
        flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                write = queue.recv() => match write {
                    Some(write) => self.add(write).await?,
                    None => return self.finish().await,
                },
                _ = flush.tick() => self.flush().await?,
            }
        }
    }

    async fn add(&mut self, write: Write) -> Result<()> {
        let is_urgent = write.record.update.is_some();
        self.pending.push(write.record);
        if write.stored.is_some() {
            self.waiting = write.stored;
        }
        if is_urgent || self.pending.len() >= MAX_PENDING {
            self.flush().await?;
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<()> {
        self.flush().await?;
        while self.has_spooled() {
            sleep_until(self.retry_at).await;
            self.flush().await?;
        }
        Ok(())
    }

    fn has_spooled(&self) -> bool {
        self.spool.as_ref().is_some_and(|spool| !spool.is_empty())
    }

    /// Stores or spools the pending records.
    async fn flush(&mut self) -> Result<()> {
        if self.has_spooled() {
            self.spool_pending().await;
            if Instant::now() >= self.retry_at {
                self.store_spooled().await?;
            }
        } else if !self.pending.is_empty() {
            let records = std::mem::take(&mut self.pending);
            let has_result = has_final_status(&records);
            fail_point::reach("store_events");
            if has_result {
                fail_point::reach("before_result");
            }
            let stored = self.store.store_records(self.run, &records).await;
            if has_result {
                fail_point::reach("after_result");
            }
            if self.is_stored(stored)? {
                self.mark_stored(&records);
            } else {
                self.pending = records;
                self.spool_pending().await;
            }
        }
        if !self.has_spooled()
            && let Some(waiting) = self.waiting.take()
        {
            // Fails only if the caller has stopped waiting.
            let _ = waiting.send(());
        }
        Ok(())
    }

    /// Returns false after a database fault that may be temporary.
    fn is_stored(&mut self, stored: Result<()>) -> Result<bool> {
        let Err(error) = stored else {
            return Ok(true);
        };
        if self.spool.is_none() || StoreFault::from_error(&error).is_none() {
            return Err(error);
        }
        self.retry_at = Instant::now() + RETRY_INTERVAL;
        Ok(false)
    }

    async fn spool_pending(&mut self) {
        if let Some(spool) = &mut self.spool {
            for record in self.pending.drain(..) {
                spool.push(record).await;
            }
        }
    }

    async fn store_spooled(&mut self) -> Result<()> {
        while let Some(spool) = &mut self.spool
            && !spool.is_empty()
        {
            let batch = match spool.take(BATCH).await {
                Ok(batch) => batch,
                Err(error) => {
                    tracing::error!(run = self.run, "cannot read spooled events: {error:#}");
                    self.retry_at = Instant::now() + RETRY_INTERVAL;
                    return Ok(());
                }
            };
            let stored = self.store.store_records(self.run, &batch.records).await;
            let is_stored = self.is_stored(stored)?;
            if is_stored {
                self.mark_stored(&batch.records);
            }
            if let Some(spool) = &mut self.spool {
                if !is_stored {
                    spool.put_back(batch);
                    return Ok(());
                }
                spool.remove(batch).await;
            }
        }
        tracing::info!(run = self.run, "stored the spooled events");
        Ok(())
    }

    fn mark_stored(&self, records: &[Record]) {
        let last = records.last().and_then(|record| record.entries.last());
        if let Some(last) = last {
            self.buffer.mark_stored(last.seq + 1);
        }
        let mut updates = records.iter().filter_map(|record| record.update.as_ref());
        if let Some(update) = updates.next_back() {
            let to = update.change.status;
            self.status
                .send_if_modified(|status| std::mem::replace(status, to) != to);
        }
    }
}

/// Whether any record sets the final status.
fn has_final_status(records: &[Record]) -> bool {
    let mut updates = records.iter().filter_map(|record| record.update.as_ref());
    updates.any(|update| update.change.status.is_final())
}
