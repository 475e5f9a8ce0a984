//! I/Os in flight at the end of a worker's last phase.

use crate::load::{measure::Loop, pattern::io::Kind};

/// Times until the end of the phase, in ns.
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
        // The order below `used` is lost when I/Os complete out of order, but the free slots are
        // known.
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
