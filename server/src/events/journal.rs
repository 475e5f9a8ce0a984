//! The one writer of a run's events: numbers them, keeps them, then tells them.
//!
//! Everything but samples and progress is on the disk before it is told. Those are told at once and kept within
//! `FLUSH`: a server that dies takes at most that much with it, and a listener that had seen it finds, after the
//! restart, the `interrupted` event in its place.

use crate::events::buffer::Live;
use crate::scheduler::states::{may_follow, moved_by};
use crate::store::Store;
use crate::store::events::Entry;
use crate::store::runs::Update;
use leadline_protocol::event::{Event, EventBody};
use leadline_protocol::phase::PhaseState;
use leadline_protocol::sample::Sample;
use leadline_protocol::status::{RunStatus, StatusChange};
use std::sync::Arc;
use std::time::Duration;

/// How long samples may wait to be kept.
pub const FLUSH: Duration = Duration::from_millis(500);
/// Samples that may wait at most, whatever the time: bounds memory when the grid is fine.
const MOST_PENDING: usize = 64;

/// The journal of one run.
pub struct Journal {
    run: u64,
    store: Store,
    live: Arc<Live>,
    status: RunStatus,
    next: u64,
    t_ms: f64,
    /// Told, and not kept yet.
    pending: Vec<Entry>,
}

impl Journal {
    /// Goes on where the store ends.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn resume(
        run: u64,
        status: RunStatus,
        store: Store,
        live: Arc<Live>,
    ) -> anyhow::Result<Self> {
        let (seq, t_ms) = store.last_event(run).await?;
        Ok(Self {
            run,
            store,
            live,
            status,
            next: seq + 1,
            t_ms,
            pending: Vec::new(),
        })
    }

    /// Takes an event of the runner. Whether it moved the run.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn take(&mut self, t_ms: f64, body: EventBody) -> anyhow::Result<bool> {
        // The list is read by time too: it never runs backwards.
        self.t_ms = self.t_ms.max(t_ms);
        if let EventBody::Sample(sample) = &body {
            self.live.set_iops(iops(sample));
        }
        let hasty = matches!(&body, EventBody::Sample(_))
            || matches!(&body, EventBody::Phase(change) if change.state == PhaseState::Progress);
        let moved = moved_by(self.status, &body);
        let update = update_of(&body);
        let entry = self.entry(body)?;
        if hasty {
            return self.tell_then_keep(entry).await.map(|()| false);
        }
        let entries = match moved {
            Some(to) => vec![entry, self.entry(status_event(to, None))?],
            None => vec![entry],
        };
        self.keep_then_tell(
            entries,
            Update {
                status: moved,
                ..update
            },
        )
        .await?;
        Ok(moved.is_some())
    }

    /// Moves the run, by the server's own decision. `false`: it may not go there from where it stands.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn move_to(&mut self, to: RunStatus, reason: Option<String>) -> anyhow::Result<bool> {
        if !may_follow(self.status, to) {
            return Ok(false);
        }
        let at_ms = crate::clock::now_ms();
        let update = Update {
            status: Some(to),
            started_at_ms: (to == RunStatus::Preparing).then_some(at_ms),
            finished_at_ms: to.is_final().then_some(at_ms),
            reason: reason.clone(),
            ..Update::default()
        };
        let entry = self.entry(status_event(to, reason))?;
        self.keep_then_tell(vec![entry], update).await?;
        Ok(true)
    }

    /// Keeps what was told and not kept yet.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn flush(&mut self) -> anyhow::Result<()> {
        if !self.pending.is_empty() {
            self.store.append(self.run, &self.pending).await?;
            self.pending.clear();
            self.live.stored(self.next);
        }
        Ok(())
    }

    fn entry(&mut self, body: EventBody) -> anyhow::Result<Entry> {
        let entry = entry(self.next, self.t_ms, body)?;
        self.next += 1;
        Ok(entry)
    }

    async fn tell_then_keep(&mut self, entry: Entry) -> anyhow::Result<()> {
        self.live.tell(entry.line.clone());
        self.pending.push(entry);
        if self.pending.len() >= MOST_PENDING {
            self.flush().await
        } else {
            Ok(())
        }
    }

    async fn keep_then_tell(&mut self, entries: Vec<Entry>, update: Update) -> anyhow::Result<()> {
        let told = self.pending.len();
        self.pending.extend(entries);
        let settled = self
            .store
            .settle(self.run, self.status, &update, &self.pending)
            .await?;
        anyhow::ensure!(
            settled,
            "run #{} does not stand at {} in the store",
            self.run,
            self.status.word()
        );
        self.status = update.status.unwrap_or(self.status);
        self.pending
            .drain(..)
            .skip(told)
            .for_each(|entry| self.live.tell(entry.line));
        self.live.stored(self.next);
        Ok(())
    }
}

/// The first event of a run, written when it is queued.
///
/// # Errors
/// Never: the event is plain data.
pub fn first_entry() -> anyhow::Result<Entry> {
    entry(0, 0.0, status_event(RunStatus::Queued, None))
}

fn entry(seq: u64, t_ms: f64, body: EventBody) -> anyhow::Result<Entry> {
    let kind = match &body {
        EventBody::Status(_) => "status",
        EventBody::Accepted(_) => "accepted",
        EventBody::Phase(_) => "phase",
        EventBody::Sample(_) => "sample",
        EventBody::Report(_) => "report",
        EventBody::Failed(_) => "failed",
    };
    Ok(Entry {
        seq,
        t_ms,
        kind,
        line: serde_json::to_string(&Event { seq, t_ms, body })?.into(),
    })
}

fn status_event(status: RunStatus, reason: Option<String>) -> EventBody {
    EventBody::Status(StatusChange {
        status,
        at_ms: crate::clock::now_ms(),
        reason,
    })
}

/// What an event changes of what is known about the run.
fn update_of(body: &EventBody) -> Update {
    match body {
        EventBody::Accepted(accepted) => Update {
            resolved: Some(accepted.jobs.clone()),
            host_facts: Some(accepted.host.clone()),
            measure_ms: accepted.measure_ms,
            ..Update::default()
        },
        EventBody::Report(outcome) => Update {
            result: Some((
                outcome.report.clone(),
                outcome.verdict.clone(),
                outcome.findings.clone(),
            )),
            ..Update::default()
        },
        EventBody::Failed(failure) => Update {
            failure: Some(failure.clone()),
            ..Update::default()
        },
        _ => Update::default(),
    }
}

/// I/Os a second of a window.
fn iops(sample: &Sample) -> f64 {
    let ios = sample.read.ios + sample.write.ios + sample.trim.ios;
    if sample.window_ms > 0.0 {
        ios as f64 / sample.window_ms * 1e3
    } else {
        0.0
    }
}
