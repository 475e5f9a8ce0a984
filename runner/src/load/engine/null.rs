//! No I/O at all: everything succeeds at once. What is left is the cost of the runner itself.

use crate::load::engine::Engine;
use crate::load::pattern::Io;

/// Completes everything at once.
#[derive(Debug)]
pub struct Null {
    done: Vec<(u32, i32)>,
}

impl Null {
    /// For as many I/Os in flight as there are slots.
    pub fn new(slots: u32) -> Self {
        Self {
            done: Vec::with_capacity(slots as usize),
        }
    }
}

impl Engine for Null {
    #[inline]
    unsafe fn submit(&mut self, slot: u32, io: &Io, _buffer: *mut u8) {
        self.done.push((slot, io.len as i32));
    }

    #[inline]
    fn ready(&self) -> usize {
        self.done.len()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.done.pop()
    }
}
