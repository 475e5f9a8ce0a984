//! Sources of I/Os for the measuring loop: a pattern, optionally with rate limits.

pub(crate) mod depth_search;
pub(crate) mod flow;
pub(crate) mod latency_limited;
pub(crate) mod prioritized;
pub(crate) mod rate_limited;
pub(crate) mod read_back;

use crate::load::{
    pattern::{
        Pattern,
        io::{Io, Kind},
    },
    stats::WorkerStats,
};

/// Number of I/Os drawn at a time: enough to amortize the call, few enough to stay in the L1 cache.
pub(crate) const DRAW: usize = 64;

/// A completed I/O or sync.
pub(crate) struct Completed {
    pub kind: Kind,
    /// Time of the completion, in ns since the worker started.
    pub since_begin_ns: u64,
    /// Latency since its batch started.
    pub lat_ns: u64,
}

/// Supplies I/Os and their due times.
pub(crate) trait Source {
    /// Fills `out` with the next I/Os and returns their number; 0 when all work is done.
    fn draw(&mut self, out: &mut [Io]) -> usize;

    /// Number of I/Os at the start of `next` that are due now.
    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize;

    /// Due time of the first I/O that was not due, in ns since the worker started; `None` if all
    /// I/Os were due, or if that I/O waits for I/Os in flight.
    fn next_due_ns(&self) -> Option<u64>;

    /// Called when the next due I/O is submitted in this slot.
    #[inline]
    fn on_submit(&mut self, _slot: u32) {}

    /// Called when the I/O or sync in this slot has completed. Records its latency from the
    /// intended start, if it has one.
    #[inline]
    fn on_complete(&mut self, _slot: u32, _completed: &Completed, _stats: &WorkerStats) {}

    /// Called when the I/O or sync in this slot has failed and the worker continues.
    fn on_error(&mut self, _slot: u32) {}
}

/// A pattern whose I/Os are always due.
pub(crate) struct Unlimited(pub Pattern);

impl Source for Unlimited {
    #[inline]
    fn draw(&mut self, out: &mut [Io]) -> usize {
        self.0.draw(out)
    }

    #[inline]
    fn due(&mut self, next: &[Io], _since_begin_ns: u64) -> usize {
        next.len()
    }

    #[inline]
    fn next_due_ns(&self) -> Option<u64> {
        None
    }
}

/// Allows dynamic dispatch of the source for jobs whose speed does not depend on it.
impl Source for Box<dyn Source> {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        (**self).draw(out)
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        (**self).due(next, since_begin_ns)
    }

    fn next_due_ns(&self) -> Option<u64> {
        (**self).next_due_ns()
    }

    fn on_submit(&mut self, slot: u32) {
        (**self).on_submit(slot);
    }

    fn on_complete(&mut self, slot: u32, completed: &Completed, stats: &WorkerStats) {
        (**self).on_complete(slot, completed, stats);
    }

    fn on_error(&mut self, slot: u32) {
        (**self).on_error(slot);
    }
}
