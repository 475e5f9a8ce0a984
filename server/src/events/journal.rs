//! The only writer of a run's events. It numbers, publishes and stores them.
//!
//! Runner events are published immediately and stored in the background; samples are stored within
//! half a second. The server's status changes are on disk before they are published. If the server
//! crashes, published events that were neither stored nor spooled are lost. Their sequence numbers
//! are reused by events of a new epoch, the first of which is `interrupted`.

use crate::{
    events::{
        buffer::EventBuffer,
        recorder::{Recorder, Write},
        spool::Spool,
    },
    rollups::builder::{Rollup, RollupBuilder},
    scheduler::run_states::{can_follow, status_after},
    store::{
        Store,
        events::EventRow,
        update::{Record, Update},
    },
};
use leadline_protocol::{
    event::EventBody,
    phase::{Phase, PhaseState},
    sample::Sample,
    status::{RunStatus, StatusChange},
};
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// Epoch in which all published events of a run have been stored.
pub(crate) const COMPLETE: u32 = 0;
/// Epoch of the last event if some of the run's published events may have been lost. Such a run
/// never continues.
pub(crate) const SHORTENED: u32 = 1;

/// Callers must call `close` when the run has ended.
pub(crate) struct Journal {
    buffer: Arc<EventBuffer>,
    recorder: Recorder,
    status: RunStatus,
    next_seq: u64,
    t_ms: f64,
    epoch: u32,
    sample_ms: u32,
    /// `Some` once the measured window has started.
    rollups: Option<RollupBuilder>,
}

impl Journal {
    /// Continues a run's journal after the last stored event. Without a spool, the journal fails if
    /// the database does not accept writes.
    pub(crate) async fn resume(
        run: u64,
        status: RunStatus,
        store: Store,
        buffer: Arc<EventBuffer>,
        spool: Option<Spool>,
        epoch: u32,
    ) -> anyhow::Result<Self> {
        let (seq, t_ms) = store.last_event(run).await?;
        Ok(Self {
            recorder: Recorder::spawn(run, status, store, buffer.clone(), spool),
            buffer,
            status,
            next_seq: seq + 1,
            t_ms,
            epoch,
            sample_ms: 0,
            rollups: None,
        })
    }

    /// Waits until `record` can return immediately. Cancel safe.
    pub(crate) async fn ready(&self) {
        self.recorder.ready().await;
    }

    /// Completes if events can no longer be stored.
    pub(crate) async fn failed(&self) {
        self.recorder.failed().await;
    }

    /// Receiver that changes whenever a status has been stored.
    pub(crate) fn stored_status(&self) -> watch::Receiver<RunStatus> {
        self.recorder.stored_status()
    }

    /// Publishes a runner event.
    ///
    /// # Errors
    /// Events cannot be stored; `close` returns the cause.
    pub(crate) async fn record(&mut self, t_ms: f64, body: EventBody) -> anyhow::Result<()> {
        // Times must not decrease, because events are also queried by time.
        self.t_ms = self.t_ms.max(t_ms);
        let mut entries = vec![self.next_entry(&body)?];
        let rollups = self.add_to_rollups(&body);
        if let EventBody::Sample(sample) = &body {
            self.buffer.set_iops(iops(sample));
        }
        let mut update = None;
        if !is_deferrable(&body) {
            let from = self.status;
            self.status = status_after(from, &body).unwrap_or(from);
            let change = status_change(self.status, None);
            if self.status != from {
                entries.push(self.next_entry(&EventBody::Status(change.clone()))?);
            }
            update = Some(Update {
                from,
                change,
                body: Some(body),
            });
        }
        for entry in &entries {
            self.buffer.push(entry.line.clone());
        }
        let record = Record {
            entries,
            rollups,
            update,
        };
        let write = Write {
            record,
            stored: None,
        };
        self.recorder.send(write).await
    }

    /// Changes the status on behalf of the server, and publishes the change once it is on disk.
    /// Returns false if the current status does not allow the change.
    ///
    /// # Errors
    /// The change cannot be stored; `close` returns the cause.
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
        let line = entry.line.clone();
        let (sender, stored) = oneshot::channel();
        let update = Update {
            from: self.status,
            change,
            body: None,
        };
        let record = Record {
            entries: vec![entry],
            rollups: self.finish_rollups(to),
            update: Some(update),
        };
        let write = Write {
            record,
            stored: Some(sender),
        };
        self.recorder.send(write).await?;
        stored.await?;
        self.status = to;
        self.buffer.push(line);
        Ok(true)
    }

    /// Waits until all events are stored.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        self.recorder.close().await
    }

    /// Adds an event to the rollups, and returns the rollups that it completes.
    fn add_to_rollups(&mut self, body: &EventBody) -> Vec<Rollup> {
        match body {
            EventBody::Accepted(accepted) => self.sample_ms = accepted.sample_ms,
            EventBody::Phase(change)
                if (change.phase, change.state) == (Phase::Measure, PhaseState::Begin) =>
            {
                let begin = || RollupBuilder::new(self.sample_ms, self.t_ms);
                self.rollups.get_or_insert_with(begin);
            }
            EventBody::Sample(sample) => {
                let rollups = self.rollups.as_mut();
                return rollups.map_or_else(Vec::new, |rollups| rollups.push(self.t_ms, sample));
            }
            _ => {}
        }
        Vec::new()
    }

    /// If the status is final, returns the incomplete rollups.
    fn finish_rollups(&mut self, status: RunStatus) -> Vec<Rollup> {
        let rollups = self.rollups.as_mut().filter(|_| status.is_final());
        rollups.map_or_else(Vec::new, RollupBuilder::finish)
    }

    fn next_entry(&mut self, body: &EventBody) -> anyhow::Result<EventRow> {
        let entry = EventRow::with_epoch(self.next_seq, self.t_ms, self.epoch, body)?;
        self.next_seq += 1;
        Ok(entry)
    }
}

/// Whether the event is frequent, and may therefore be stored in a batch.
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
    sample.ios() as f64 / sample.window_ms * 1e3
}
