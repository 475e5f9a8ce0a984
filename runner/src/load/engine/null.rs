//! Performs no I/O: every I/O completes inline, so a run measures only the runner's overhead.

use crate::load::{engine::Engine, pattern::io::Io};

#[derive(Debug)]
pub(crate) struct Null {
    completed: Vec<(u32, i32)>,
}

impl Null {
    pub(crate) fn new(slots: u32) -> Self {
        Self {
            completed: Vec::with_capacity(slots as usize),
        }
    }
}

impl Engine for Null {
    #[inline]
    unsafe fn submit(&mut self, slot: u32, io: &Io, _buffer: *mut u8) {
        self.completed.push((slot, io.len as i32));
    }

    #[inline]
    fn ready(&self) -> usize {
        self.completed.len()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.completed.pop()
    }
}
