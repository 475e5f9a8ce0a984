//! A source that varies the number of I/Os in flight (`latency_target`).

use crate::load::{
    pattern::io::{Io, Kind},
    source::{
        Completed, Source,
        depth_search::{DepthSearch, Progress as SearchProgress},
    },
    stats::WorkerStats,
    worker::progress::Progress,
};
use std::sync::Arc;

pub(crate) struct LatencyLimited<S> {
    source: S,
    search: DepthSearch,
    in_flight: u32,
    progress: Arc<Progress>,
}

impl<S> LatencyLimited<S> {
    pub(crate) fn new(source: S, search: DepthSearch, progress: Arc<Progress>) -> Self {
        Self {
            source,
            search,
            in_flight: 0,
            progress,
        }
    }

    fn is_done(&self) -> bool {
        let progress = self.search.progress();
        matches!(progress, SearchProgress::Found | SearchProgress::Impossible)
    }
}

impl<S: Source> Source for LatencyLimited<S> {
    /// Draws only a few I/Os at a time, because I/Os that were already drawn are still issued after
    /// the search ends.
    fn draw(&mut self, out: &mut [Io]) -> usize {
        if self.is_done() {
            return 0;
        }
        let len = out.len().min(self.search.depth() as usize);
        self.source.draw(&mut out[..len])
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        self.search.check(since_begin_ns);
        if self.search.quiesces() && self.in_flight == 0 {
            self.search.resume(since_begin_ns);
        }
        let has_attained = self.search.progress() == SearchProgress::Found;
        self.progress.set_depth(self.search.depth(), has_attained);
        if self.search.quiesces() {
            return 0;
        }
        let free = self.search.depth().saturating_sub(self.in_flight) as usize;
        let next = &next[..next.len().min(free)];
        if next.is_empty() {
            return 0;
        }
        self.source.due(next, since_begin_ns)
    }

    fn next_due_ns(&self) -> Option<u64> {
        let is_full = self.in_flight > 0 && self.in_flight >= self.search.depth();
        if is_full || self.search.quiesces() {
            return None;
        }
        self.source.next_due_ns()
    }

    fn on_submit(&mut self, slot: u32) {
        self.in_flight += 1;
        self.source.on_submit(slot);
    }

    fn on_complete(&mut self, slot: u32, completed: &Completed, stats: &WorkerStats) {
        self.in_flight -= 1;
        if !matches!(completed.kind, Kind::Sync | Kind::Datasync) {
            self.search
                .complete(completed.lat_ns, completed.since_begin_ns);
        }
        self.source.on_complete(slot, completed, stats);
    }

    fn on_error(&mut self, slot: u32) {
        self.in_flight -= 1;
        self.source.on_error(slot);
    }
}
