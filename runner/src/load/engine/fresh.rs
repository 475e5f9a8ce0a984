//! Fresh data for every write: an engine around another, so that the loop need not know.

use crate::load::data::Data;
use crate::load::engine::Engine;
use crate::load::pattern::{Io, Kind};
use leadline_protocol::report::Decision;
use std::io;

/// Fills each write's buffer before the engine inside sees it.
pub struct Fresh<E> {
    inner: E,
    data: Data,
    /// What making 4 KiB takes, in ns.
    cost_ns: f64,
}

impl<E> Fresh<E> {
    /// Writes of `inner` carry this data, of which 4 KiB take `cost_ns` to make.
    pub fn new(inner: E, data: Data, cost_ns: f64) -> Self {
        Self {
            inner,
            data,
            cost_ns,
        }
    }
}

impl<E: Engine> Engine for Fresh<E> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        if io.kind == Kind::Write {
            // SAFETY: the caller vouches that the buffer is valid for `io.len` bytes and nobody else's; its pages are
            // initialised since `BufferPool::new`.
            self.data
                .fill(unsafe { std::slice::from_raw_parts_mut(buffer, io.len as usize) });
        }
        // SAFETY: handed on as it came.
        unsafe { self.inner.submit(slot, io, buffer) }
    }

    #[inline(always)]
    fn commit(&mut self, in_flight: usize) -> io::Result<()> {
        self.inner.commit(in_flight)
    }

    #[inline]
    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.inner.wait(at_least, timeout_ns)
    }

    fn decisions(&self) -> Vec<Decision> {
        let reason = format!(
            "every write gets new data, made inside its latency: {:.0} ns per 4 KiB here, measured before the start",
            self.cost_ns
        );
        let fresh = Decision {
            name: "fresh_data".into(),
            used: true,
            reason,
        };
        self.inner.decisions().into_iter().chain([fresh]).collect()
    }

    #[inline]
    fn ready(&self) -> usize {
        self.inner.ready()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.inner.pop()
    }
}
