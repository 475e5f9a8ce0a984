//! A subscription to a run's events: first stored events, then live ones, without gaps or
//! duplicates. Handles early, late, slow and resuming subscribers alike, and keeps only one batch
//! in memory.

use crate::{
    events::buffer::{BufferRead, EventBuffer},
    store::Store,
};
use std::sync::Arc;
use tokio::sync::watch;

/// Events per batch.
const BATCH: u32 = 64;

pub(crate) struct Subscription {
    run: u64,
    store: Store,
    /// `None` if the run had already ended.
    live: Option<(Arc<EventBuffer>, watch::Receiver<u64>)>,
    next_seq: u64,
    ended: bool,
}

impl Subscription {
    /// Starts with event `since`. `buffer` must be looked up before the store is read.
    pub(crate) fn new(
        run: u64,
        store: Store,
        buffer: Option<Arc<EventBuffer>>,
        since: u64,
    ) -> Self {
        let live = buffer.map(|buffer| {
            let changes = buffer.subscribe();
            (buffer, changes)
        });
        Self {
            run,
            store,
            live,
            next_seq: since,
            ended: false,
        }
    }

    /// Waits for the next events. Returns at least one, or `None` after the last one. Cancel safe.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Option<Vec<Arc<str>>>> {
        while !self.ended {
            let Some((buffer, changes)) = &mut self.live else {
                return self.read_store().await;
            };
            changes.mark_unchanged();
            match buffer.read_from(self.next_seq) {
                BufferRead::Lines(mut lines) => {
                    lines.truncate(BATCH as usize);
                    self.next_seq += lines.len() as u64;
                    return Ok(Some(lines));
                }
                BufferRead::InStore => return self.read_store().await,
                BufferRead::Ended => break,
                // `buffer` owns the sender, so this wait cannot fail.
                BufferRead::Empty => drop(changes.changed().await),
            }
        }
        Ok(None)
    }

    async fn read_store(&mut self) -> anyhow::Result<Option<Vec<Arc<str>>>> {
        let first = self.next_seq;
        let rows = self.store.events_from(self.run, first, BATCH).await?;
        let is_gapless = (first..).zip(&rows).all(|(seq, row)| seq == row.0);
        let is_expected = !rows.is_empty() || self.live.is_none();
        anyhow::ensure!(
            is_gapless && is_expected,
            "run #{}: events after {first} are missing",
            self.run
        );
        if rows.is_empty() {
            self.ended = true;
            return Ok(None);
        }
        self.next_seq += rows.len() as u64;
        Ok(Some(rows.into_iter().map(|(_, line)| line).collect()))
    }
}
