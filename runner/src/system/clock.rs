//! Monotonic time in nanoseconds. Wall-clock time is used only for display, logs, ownership
//! marks, and unique written data, so clock adjustments do not affect results.

#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod tsc;

use rustix::{
    thread::clock_nanosleep_absolute,
    time::{ClockId, Timespec, clock_gettime},
};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const NS_PER_SECOND: u64 = 1_000_000_000;
pub(crate) const NS_PER_US: u64 = 1000;
pub(crate) const NS_PER_MS: u64 = 1_000_000;

pub(crate) trait Clock {
    /// Nanoseconds since a fixed point in time; never decreases.
    fn now_ns(&self) -> u64;
    /// Sleeps until `due_ns`. Returns early on a signal.
    fn sleep_until(&self, due_ns: u64);
}

/// CLOCK_MONOTONIC (clock_gettime(2)): the same in all threads. Its rate may be adjusted, but it
/// never jumps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * NS_PER_SECOND + now.tv_nsec as u64
    }

    fn sleep_until(&self, due_ns: u64) {
        let due = Timespec {
            tv_sec: (due_ns / NS_PER_SECOND) as i64,
            tv_nsec: (due_ns % NS_PER_SECOND) as i64,
        };
        // After EINTR, the caller checks its flags and the clock again.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &due);
    }
}

/// Unix time in milliseconds; 0 if the host's clock is set to a time before 1970.
pub(crate) fn wall_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
