//! A clock for tests that advances by a fixed step with each reading, and jumps instead of
//! sleeping.

use crate::system::clock::Clock;
use std::cell::Cell;

#[derive(Debug, Default)]
pub(crate) struct VirtualClock {
    now_ns: Cell<u64>,
    step_ns: u64,
}

impl VirtualClock {
    /// Creates a clock that starts at 0.
    pub(crate) fn stepping(step_ns: u64) -> Self {
        Self {
            now_ns: Cell::new(0),
            step_ns,
        }
    }
}

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + self.step_ns);
        self.now_ns.get()
    }

    fn sleep_until(&self, due_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(due_ns));
    }
}
