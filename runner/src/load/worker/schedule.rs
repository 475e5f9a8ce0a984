//! Start and end times of a job's workers.

use crate::system::clock::{Clock, Monotonic, NS_PER_SECOND};
use std::sync::atomic::{AtomicU64, Ordering};

/// Length of a run that has no time limit: 68 years, far too short to overflow.
pub(crate) const NO_LIMIT_NS: u64 = (1 << 31) * NS_PER_SECOND;

/// Times in ns (CLOCK_MONOTONIC); 0 means now. Set by the observing thread before the start, and
/// when the run must stop.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// Time of the first I/O.
    pub begin_ns: AtomicU64,
    /// End of the ramp and start of the measurement.
    pub ramp_end_ns: AtomicU64,
    /// End of the measurement.
    pub end_ns: AtomicU64,
}

/// A scheduled time, or now if the run was stopped earlier.
pub(crate) fn time_of(scheduled_ns: &AtomicU64) -> u64 {
    match scheduled_ns.load(Ordering::Acquire) {
        0 => Monotonic.now_ns(),
        ns => ns,
    }
}
