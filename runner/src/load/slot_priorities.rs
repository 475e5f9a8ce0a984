//! Priorities of the I/Os in a worker's slots. The source sets them, and the engine passes them to
//! the kernel.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Only the worker's thread uses it.
#[derive(Debug)]
pub(crate) struct SlotPriorities(Box<[AtomicU16]>);

impl SlotPriorities {
    pub(crate) fn new(slots: u32) -> Self {
        Self((0..slots).map(|_| AtomicU16::new(0)).collect())
    }

    /// 0 selects the thread's priority.
    pub(crate) fn get(&self, slot: u32) -> u16 {
        self.0[slot as usize].load(Relaxed)
    }

    pub(crate) fn set(&self, slot: u32, priority: u16) {
        self.0[slot as usize].store(priority, Relaxed);
    }
}
