//! Listening to a run: every event from a number on, stored ones first, then live ones, without gap or duplicate. One
//! way for early, late, lagging and resuming listeners, for WebSocket and NDJSON; it holds one batch at a time.

use crate::events::buffer::{Ahead, Live};
use crate::store::Store;
use std::sync::Arc;
use tokio::sync::watch;

/// Events of one batch: what a listener may hold in memory.
const BATCH: u32 = 64;

/// One listener of one run.
pub struct Listener {
    run: u64,
    store: Store,
    /// The run and its bell; `None` when it came to its end before.
    live: Option<(Arc<Live>, watch::Receiver<u64>)>,
    next: u64,
    over: bool,
}

impl Listener {
    /// From `since` on. `live` must have been looked up before anything is read.
    pub fn new(run: u64, store: Store, live: Option<Arc<Live>>, since: u64) -> Self {
        let live = live.map(|live| (live.clone(), live.bell()));
        Self {
            run,
            store,
            live,
            next: since,
            over: false,
        }
    }

    /// The next events, at least one; `None` behind the last. Waits for them; may be dropped while it waits.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<Arc<str>>>> {
        while !self.over {
            let Some((live, bell)) = &mut self.live else {
                return self.read_store().await;
            };
            bell.mark_unchanged();
            match live.ahead(self.next) {
                Ahead::Lines(mut lines) => {
                    lines.truncate(BATCH as usize);
                    self.next += lines.len() as u64;
                    return Ok(Some(lines));
                }
                Ahead::Store => return self.read_store().await,
                Ahead::End => break,
                // The bell's other end lives in `live`, which we hold.
                Ahead::Nothing => drop(bell.changed().await),
            }
        }
        Ok(None)
    }

    async fn read_store(&mut self) -> anyhow::Result<Option<Vec<Arc<str>>>> {
        let rows = self.store.events_from(self.run, self.next, BATCH).await?;
        for (seq, _) in &rows {
            anyhow::ensure!(
                *seq == self.next,
                "run #{}: event {} is missing",
                self.run,
                self.next
            );
            self.next += 1;
        }
        if rows.is_empty() {
            anyhow::ensure!(
                self.live.is_none(),
                "run #{}: event {} is missing",
                self.run,
                self.next
            );
            self.over = true;
            return Ok(None);
        }
        Ok(Some(rows.into_iter().map(|(_, line)| line).collect()))
    }
}
