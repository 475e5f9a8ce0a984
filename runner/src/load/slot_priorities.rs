//! Priorities of the I/Os in the slots of a worker. The source sets them, and the engine passes them
//! to the kernel.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Only the worker's thread uses it.
#[derive(Debug)]
pub(crate) struct SlotPriorities(Box<[AtomicU16]>);

impl SlotPriorities {
    pub(crate) fn new(slots: u32) -> Self {
        Self((0..slots).map(|_| AtomicU16::new(0)).collect())
    }

    /// 0 is the priority of the thread.
    pub(crate) fn get(&self, slot: u32) -> u16 {
        self.0[slot as usize].load(Relaxed)
    }

    pub(crate) fn set(&self, slot: u32, priority: u16) {
        self.0[slot as usize].store(priority, Relaxed);
    }
}
