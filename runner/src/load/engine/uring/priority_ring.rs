//! A ring whose entries carry their slots' priorities (`sqe->ioprio`).

use crate::load::{engine::uring::ring::Ring, slot_priorities::SlotPriorities};
use io_uring::squeue;
use std::{io, sync::Arc};

/// Index of `ioprio` in `struct io_uring_sqe` as an array of u16: after `opcode` and `flags`.
const IOPRIO: usize = 1;

pub(crate) struct PriorityRing<R> {
    ring: R,
    priorities: Arc<SlotPriorities>,
}

impl<R> PriorityRing<R> {
    pub(crate) fn new(ring: R, priorities: Arc<SlotPriorities>) -> Self {
        Self { ring, priorities }
    }
}

impl<R: Ring> Ring for PriorityRing<R> {
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        let mut entry = entry.clone();
        let slot = entry.get_user_data() as u32;
        // SAFETY: an entry is the kernel's struct io_uring_sqe (repr(C)); `ioprio` is a u16 at
        // offset 2.
        unsafe {
            let halves = (&raw mut entry).cast::<u16>();
            halves.add(IOPRIO).write(self.priorities.get(slot));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.ring.push(&entry) };
    }

    fn queued(&self) -> usize {
        self.ring.queued()
    }

    fn is_polled(&self) -> bool {
        self.ring.is_polled()
    }

    fn enter(&mut self, reap: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.ring.enter(reap, at_least, timeout_ns)
    }

    fn ready(&self) -> usize {
        self.ring.ready()
    }

    fn pop(&mut self) -> Option<(u64, i32)> {
        self.ring.pop()
    }
}
