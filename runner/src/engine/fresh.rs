//! Fresh data for every write: an engine around another, so that the loop need not know.

use std::io;

use super::Engine;
use crate::data::Data;
use crate::pattern::{Io, Kind};
use crate::report::Choice;

/// Fills each write's buffer before the engine inside sees it.
pub struct Fresh<E> {
    inner: E,
    data: Data,
}

impl<E> Fresh<E> {
    /// Writes of `inner` carry this data.
    pub fn new(inner: E, data: Data) -> Self {
        Self { inner, data }
    }
}

impl<E: Engine> Engine for Fresh<E> {
    #[inline]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        if io.kind == Kind::Write {
            // SAFETY: the caller vouches that the buffer is valid for `io.len` bytes and nobody else's; its pages are
            // initialised since `Pool::new`.
            self.data.fill(unsafe { std::slice::from_raw_parts_mut(buffer, io.len as usize) });
        }
        // SAFETY: handed on as it came.
        unsafe { self.inner.submit(slot, io, buffer) }
    }

    #[inline]
    fn commit(&mut self) -> io::Result<()> {
        self.inner.commit()
    }

    #[inline]
    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.inner.wait(at_least, timeout_ns)
    }

    fn choices(&self) -> Vec<Choice> {
        self.inner.choices()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.inner.pop()
    }
}
