//! Wraps an engine, and prepares the data for every write.

use crate::load::{
    data::{Data, stamp::Stamps},
    engine::{Engine, verified_writes::VerifiedWrites},
    pattern::io::{Io, Kind},
    verify::written_blocks::WrittenBlocks,
};
use leadline_protocol::report::Decision;
use std::{io, mem};

/// How a write's buffer is prepared before it is passed to the inner engine.
pub(crate) enum Content {
    /// `scramble_buffers=0` or `zero_buffers=1`.
    Unchanged,
    /// `scramble_buffers=1`.
    Stamped(Stamps),
    /// `refill_buffers=1`. `ns_per_4k` is the measured time to generate 4 KiB of `data`.
    Refilled { data: Data, ns_per_4k: f64 },
    /// `verify`. `ns_per_4k` is the measured time to prepare 4 KiB.
    Verified {
        writes: Box<VerifiedWrites>,
        ns_per_4k: f64,
    },
}

impl Content {
    #[inline]
    fn prepare(&mut self, slot: u32, io: &Io, buffer: &mut [u8]) {
        match self {
            Self::Unchanged => (),
            Self::Stamped(stamps) => stamps.apply(io.offset, buffer),
            Self::Refilled { data, .. } => data.fill(buffer),
            Self::Verified { writes, .. } => writes.prepare(slot, io, buffer),
        }
    }

    fn decision(&self) -> Decision {
        let (name, used, reason) = match self {
            Self::Unchanged => (
                "scramble_buffers",
                false,
                "each I/O slot writes the same buffer contents every time".into(),
            ),
            Self::Stamped(_) => (
                "scramble_buffers",
                true,
                "every 512 bytes of a write contain a stamp, so no two blocks are identical; refill_buffers=1 generates new data".into(),
            ),
            Self::Refilled { ns_per_4k, .. } => (
                "refill_buffers",
                true,
                format!(
                    "every write gets new data; generating it adds {ns_per_4k:.0} ns per 4 KiB to the latency (measured before the run)"
                ),
            ),
            Self::Verified { ns_per_4k, .. } => (
                "verify",
                true,
                format!(
                    "every block contains a header and a checksum; preparing them adds {ns_per_4k:.0} ns per 4 KiB to the latency (measured before the run)"
                ),
            ),
        };
        Decision {
            name: name.into(),
            used,
            reason,
        }
    }
}

pub(crate) struct WriteBuffers<E> {
    inner: E,
    content: Content,
    /// Distance from a slot's buffer to its write buffer, in bytes.
    offset: usize,
}

impl<E> WriteBuffers<E> {
    /// `offset` must be `BufferPool::write_offset` of the pool that provides the buffers.
    pub(crate) fn new(inner: E, content: Content, offset: usize) -> Self {
        Self {
            inner,
            content,
            offset,
        }
    }
}

impl<E: Engine> Engine for WriteBuffers<E> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        let mut buffer = buffer;
        if io.kind == Kind::Write {
            // SAFETY: the caller guarantees exclusive access to the slot, which includes its write
            // buffer of `io.len` bytes; the pages are initialized since `BufferPool::new`.
            unsafe {
                buffer = buffer.add(self.offset);
                let data = std::slice::from_raw_parts_mut(buffer, io.len as usize);
                self.content.prepare(slot, io, data);
            }
        } else if let Content::Verified { writes, .. } = &mut self.content {
            writes.read(slot, io, buffer);
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
        decisions.push(self.content.decision());
        decisions
    }

    #[inline]
    fn ready(&self) -> usize {
        self.inner.ready()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        let (slot, result) = self.inner.pop()?;
        let result = match &mut self.content {
            // SAFETY: the buffer was valid when the I/O was submitted, and stays so until the
            // caller of `pop` reuses the slot.
            Content::Verified { writes, .. } => unsafe { writes.complete(slot, result) },
            _ => result,
        };
        Some((slot, result))
    }

    fn take_written(&mut self) -> Option<WrittenBlocks> {
        match mem::replace(&mut self.content, Content::Unchanged) {
            Content::Verified { writes, .. } => Some(writes.into_blocks()),
            _ => None,
        }
    }
}
