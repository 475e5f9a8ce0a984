//! I/Os in flight at the end of a worker's last phase.

use crate::{
    load::{
        engine::Engine,
        measure::{Loop, exit::IoError},
        pattern::io::Kind,
        source::Source,
        stats::WorkerStats,
    },
    system::clock::Clock,
};

/// Maximum time that `drain` sleeps between two time checks.
const DRAIN_STEP_NS: u64 = 50_000_000;

/// An I/O that is in flight at the end of the phase. Times are in ns before that end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct UnfinishedIo {
    pub kind: Kind,
    /// Time since just before submission.
    pub age_ns: u64,
    /// Time since the kernel accepted the I/O.
    pub since_accepted_ns: u64,
}

impl<E, C, S> Loop<E, C, S> {
    /// I/Os in flight after the last phase. Must be called after [`Self::reap_final`].
    pub(crate) fn unfinished(&self) -> Vec<UnfinishedIo> {
        // I/Os that complete out of order overwrite the list of slots in flight, but the free slots
        // are known.
        let mut is_free = vec![false; self.slots.depth()];
        for &slot in &self.slots.order[self.slots.used..] {
            is_free[slot as usize] = true;
        }
        (0..self.slots.depth())
            .filter(|&slot| !is_free[slot])
            .map(|slot| {
                let times = self.slots.times[slot];
                UnfinishedIo {
                    kind: self.slots.ios[slot].kind,
                    age_ns: self.time.now_ns.saturating_sub(times.start_ns),
                    since_accepted_ns: self.time.now_ns.saturating_sub(times.accepted_ns),
                }
            })
            .collect()
    }
}

impl<E: Engine, C: Clock, S: Source> Loop<E, C, S> {
    /// Reaps I/Os that completed by the end of the last phase. Returns a failed I/O, if any.
    #[cold]
    pub(crate) fn reap_final(&mut self, stats: &WorkerStats) -> Option<IoError> {
        self.reap(stats);
        self.failed
    }

    /// Waits until nothing is in flight, or until `until_ns`. These completions are outside the
    /// measurement window. Returns true if the kernel returned all I/Os.
    pub(crate) fn drain(&mut self, until_ns: u64) -> bool {
        let discarded = WorkerStats::default();
        while self.slots.in_flight() > 0 && self.clock.now_ns() < until_ns {
            // Wait with a timeout, because a device may hang.
            if self.engine.wait(1, Some(DRAIN_STEP_NS)).is_err() {
                break;
            }
            self.time.now_ns = self.clock.now_ns();
            self.reap_final(&discarded);
        }
        self.slots.in_flight() == 0
    }
}
