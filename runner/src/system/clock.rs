//! Monotonic time in nanoseconds, and a virtual one for tests. Wall-clock time is read once a run, for humans only:
//! a clock that jumps changes no number.

pub(crate) mod tsc;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
#[cfg(test)]
use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds of a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// Nanoseconds of a microsecond.
pub const MICROSECOND_NS: u64 = 1000;
/// Nanoseconds of a millisecond.
pub const MILLISECOND_NS: u64 = 1_000_000;

/// Tells the time and can wait for it.
pub trait Clock {
    /// Nanoseconds since some fixed moment; never goes back.
    fn now_ns(&self) -> u64;
    /// Sleeps until that moment, or until a signal comes.
    fn sleep_until(&self, due_ns: u64);
}

/// The kernel's CLOCK_MONOTONIC (clock_gettime(2)): the same in all threads, adjusted in rate but never set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * SECOND_NS + now.tv_nsec as u64
    }

    fn sleep_until(&self, due_ns: u64) {
        let due = Timespec {
            tv_sec: (due_ns / SECOND_NS) as i64,
            tv_nsec: (due_ns % SECOND_NS) as i64,
        };
        // Interrupted sleeps end early on purpose: the caller looks at its flags and the clock again.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &due);
    }
}

/// A clock that moves by a fixed step each time it is read, and jumps when one sleeps.
#[cfg(test)]
#[derive(Debug, Default)]
pub struct Virtual {
    now_ns: Cell<u64>,
    step_ns: u64,
}

#[cfg(test)]
impl Virtual {
    /// Starts at 0 and moves by `step_ns` per reading.
    pub fn stepping(step_ns: u64) -> Self {
        Self {
            now_ns: Cell::new(0),
            step_ns,
        }
    }
}

#[cfg(test)]
impl Clock for Virtual {
    fn now_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + self.step_ns);
        self.now_ns.get()
    }

    fn sleep_until(&self, due_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(due_ns));
    }
}

/// Wall-clock time in milliseconds since 1970 UTC; 0 when the host's clock stands before that.
pub fn wall_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}
