//! Periods in which the runner was stopped or frozen, or the host was suspended. Detected when the
//! sampler wakes up late.

use crate::system::clock::NS_PER_MS;
use leadline_protocol::report::missing_time::PauseCause;
use rustix::time::{ClockId, clock_gettime};
use std::ops::Range;

/// Minimum delay that counts as a pause, in ns. Shorter delays are normal on a loaded host.
const MIN_PAUSE_NS: u64 = 500 * NS_PER_MS;
const MAX_PAUSES: usize = 100;

#[derive(Debug)]
pub(crate) struct Pauses {
    pub found: Vec<(Range<u64>, PauseCause)>,
    /// How long the host has been suspended since boot, in ns.
    suspended_ns: u64,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self {
            found: Vec::new(),
            suspended_ns: suspended_ns(),
        }
    }

    /// Must be called after each sleep. `due_ns`: planned end of the sleep. Both times are
    /// CLOCK_MONOTONIC times in ns. Returns true after a pause.
    pub(crate) fn check(&mut self, due_ns: u64, now_ns: u64) -> bool {
        let suspended_ns = suspended_ns();
        let newly_suspended_ns = suspended_ns.saturating_sub(self.suspended_ns);
        self.suspended_ns = suspended_ns;
        let pause = if newly_suspended_ns >= MIN_PAUSE_NS {
            // CLOCK_MONOTONIC does not advance while the host is suspended.
            Some((now_ns..now_ns + newly_suspended_ns, PauseCause::Suspended))
        } else {
            let is_late = now_ns.saturating_sub(due_ns) >= MIN_PAUSE_NS;
            is_late.then_some((due_ns..now_ns, PauseCause::NotScheduled))
        };
        let is_paused = pause.is_some();
        if self.found.len() < MAX_PAUSES {
            self.found.extend(pause);
        }
        is_paused
    }
}

/// CLOCK_BOOTTIME includes suspended time, CLOCK_MONOTONIC does not (clock_gettime(2)).
fn suspended_ns() -> u64 {
    let ns = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    ns(ClockId::Boottime).saturating_sub(ns(ClockId::Monotonic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_wake_ups_are_pauses() {
        let mut pauses = Pauses::new();
        let ms = NS_PER_MS;
        assert!(!pauses.check(100 * ms, 350 * ms));
        assert!(pauses.check(400 * ms, 2_400 * ms));
        let expected = (400 * ms..2_400 * ms, PauseCause::NotScheduled);
        assert_eq!(pauses.found, [expected]);
    }
}
