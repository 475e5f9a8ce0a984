//! `refill_buffers`: wraps an engine and generates new data for every write.

use crate::load::{
    data::Data,
    engine::Engine,
    pattern::io::{Io, Kind},
};
use leadline_protocol::report::Decision;
use std::io;

/// Fills the buffer of each write before the inner engine gets it.
pub(crate) struct RefillBuffers<E> {
    inner: E,
    data: Data,
    ns_per_4k: f64,
}

impl<E> RefillBuffers<E> {
    /// `ns_per_4k` is the measured time to generate 4 KiB of `data`.
    pub(crate) fn new(inner: E, data: Data, ns_per_4k: f64) -> Self {
        Self {
            inner,
            data,
            ns_per_4k,
        }
    }
}

impl<E: Engine> Engine for RefillBuffers<E> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        if io.kind == Kind::Write {
            // SAFETY: the caller guarantees exclusive access to `io.len` bytes; the pages are
            // initialized since `BufferPool::new`.
            self.data
                .fill(unsafe { std::slice::from_raw_parts_mut(buffer, io.len as usize) });
        }
        // SAFETY: same contract.
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
        let mut decisions = self.inner.decisions();
        decisions.push(Decision {
            name: "refill_buffers".into(),
            used: true,
            reason: format!(
                "every write gets new data; generating it adds {:.0} ns per 4 KiB to the latency (measured before the run)",
                self.ns_per_4k
            ),
        });
        decisions
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
