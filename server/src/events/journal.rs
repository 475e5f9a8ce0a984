//! The only writer of a run's events: numbers, stores and publishes them.
//!
//! Samples and progress are published immediately and stored within `FLUSH_INTERVAL`; all other
//! events are on disk before they are published. After a crash of the server, at most
//! `FLUSH_INTERVAL` of samples are lost, and their sequence numbers are reused, starting with the
//! `interrupted` event.

use crate::{
    events::buffer::EventBuffer,
    scheduler::run_states::{can_follow, status_after},
    store::{Store, entry::Entry},
};
use leadline_protocol::{
    event::EventBody,
    phase::PhaseState,
    sample::Sample,
    status::{RunStatus, StatusChange},
};
use std::{sync::Arc, time::Duration};

pub(crate) const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// Bounds memory when the sampling interval is short.
const MAX_PENDING: usize = 64;

pub(crate) struct Journal {
    run: u64,
    store: Store,
    buffer: Arc<EventBuffer>,
    status: RunStatus,
    next_seq: u64,
    t_ms: f64,
    /// Published, but not stored yet.
    pending: Vec<Entry>,
}

impl Journal {
    /// Continues after the last stored event.
    pub(crate) async fn resume(
        run: u64,
        status: RunStatus,
        store: Store,
        buffer: Arc<EventBuffer>,
    ) -> anyhow::Result<Self> {
        let (seq, t_ms) = store.last_event(run).await?;
        Ok(Self {
            run,
            store,
            buffer,
            status,
            next_seq: seq + 1,
            t_ms,
            pending: Vec::new(),
        })
    }

    /// Records an event of the runner. Returns true if it changed the status of the run.
    pub(crate) async fn record(&mut self, t_ms: f64, body: EventBody) -> anyhow::Result<bool> {
        // Times must not decrease, because events are also queried by time.
        self.t_ms = self.t_ms.max(t_ms);
        let entry = self.next_entry(&body)?;
        if let EventBody::Sample(sample) = &body {
            self.buffer.set_iops(iops(sample));
        }
        if is_deferrable(&body) {
            self.publish_then_store(entry).await?;
            return Ok(false);
        }
        let status = status_after(self.status, &body);
        let change = status_change(status.unwrap_or(self.status), None);
        let mut entries = vec![entry];
        if status.is_some() {
            entries.push(self.next_entry(&EventBody::Status(change.clone()))?);
        }
        self.store_then_publish(entries, &change, Some(&body))
            .await?;
        Ok(status.is_some())
    }

    /// Changes the status on behalf of the server. Returns false if the current status does not
    /// allow it.
    pub(crate) async fn change_status(
        &mut self,
        to: RunStatus,
        reason: Option<String>,
    ) -> anyhow::Result<bool> {
        if !can_follow(self.status, to) {
            return Ok(false);
        }
        let change = status_change(to, reason);
        let entry = self.next_entry(&EventBody::Status(change.clone()))?;
        self.store_then_publish(vec![entry], &change, None).await?;
        Ok(true)
    }

    /// Stores pending events.
    pub(crate) async fn flush(&mut self) -> anyhow::Result<()> {
        if !self.pending.is_empty() {
            self.store.append(self.run, &self.pending).await?;
            self.pending.clear();
            self.buffer.mark_stored(self.next_seq);
        }
        Ok(())
    }

    fn next_entry(&mut self, body: &EventBody) -> anyhow::Result<Entry> {
        let entry = Entry::new(self.next_seq, self.t_ms, body)?;
        self.next_seq += 1;
        Ok(entry)
    }

    async fn publish_then_store(&mut self, entry: Entry) -> anyhow::Result<()> {
        self.buffer.push(entry.line.clone());
        self.pending.push(entry);
        if self.pending.len() >= MAX_PENDING {
            self.flush().await?;
        }
        Ok(())
    }

    async fn store_then_publish(
        &mut self,
        entries: Vec<Entry>,
        change: &StatusChange,
        body: Option<&EventBody>,
    ) -> anyhow::Result<()> {
        let published = self.pending.len();
        self.pending.extend(entries);
        let updated = self
            .store
            .update_run(self.run, self.status, change, body, &self.pending)
            .await?;
        let status = self.status.as_str();
        anyhow::ensure!(updated, "run #{} is not {status} in the store", self.run);
        self.status = change.status;
        for entry in self.pending.drain(..).skip(published) {
            self.buffer.push(entry.line);
        }
        self.buffer.mark_stored(self.next_seq);
        Ok(())
    }
}

/// Frequent events are stored in batches.
fn is_deferrable(body: &EventBody) -> bool {
    match body {
        EventBody::Sample(_) => true,
        EventBody::Phase(change) => change.state == PhaseState::Progress,
        _ => false,
    }
}

fn status_change(status: RunStatus, reason: Option<String>) -> StatusChange {
    StatusChange {
        status,
        at_ms: crate::clock::now_ms(),
        reason,
    }
}

fn iops(sample: &Sample) -> f64 {
    if sample.window_ms <= 0.0 {
        return 0.0;
    }
    let ios = sample.read.ios + sample.write.ios + sample.trim.ios;
    ios as f64 / sample.window_ms * 1e3
}
