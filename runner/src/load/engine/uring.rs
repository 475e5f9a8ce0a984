//! io_uring: I/Os are entries in a ring shared with the kernel, and one system call submits a
//! batch.
//!
//! The loop adds all due I/Os to the ring, submits them with one io_uring_enter(2), reaps all
//! completions, and waits for a completion only if no I/O is due. The queue is refilled to the
//! requested depth immediately, and an I/O served by the page cache needs no second system call.
//! Completions are processed in the submitter's context (DEFER_TASKRUN); files, buffers and the
//! ring itself are registered if the kernel permits.

pub(crate) mod decisions;
pub(crate) mod entries;
pub(crate) mod priority_ring;
pub(crate) mod ring;
pub(crate) mod setup;
#[cfg(test)]
pub(crate) mod tests;

use crate::{
    load::{
        engine::{
            Engine, synchronous,
            uring::{
                decisions::decisions,
                entries::SubmissionEntries,
                ring::{KernelRing, Ring},
                setup::{Polling, Setup},
            },
        },
        pattern::io::{Io, Kind},
    },
    system::clock::{Clock, Monotonic},
};
use io_uring::{
    opcode, squeue,
    types::{Fixed, FsyncFlags},
};
use leadline_protocol::report::Decision;
use std::{
    io,
    marker::PhantomData,
    os::fd::{AsRawFd, OwnedFd, RawFd},
};

/// IORING_MAX_ENTRIES, io_uring/io_uring.h.
const MAX_ENTRIES: u32 = 32_768;

/// Number of ring entries: one per slot, since a slot holds at most one I/O. An SQPOLL thread frees
/// the entries of a batch only after it has posted the batch's completions (io_submit_sqes); until
/// then, refilled slots need a second entry.
fn entries_for(slots: u32, polling: Polling) -> u32 {
    let per_slot = if polling.submissions { 2 } else { 1 };
    slots.saturating_mul(per_slot).clamp(1, MAX_ENTRIES)
}

pub(crate) struct Uring<R, N> {
    ring: R,
    entries: PhantomData<N>,
    spin_ns: u64,
    files: Vec<RawFd>,
    /// Slots and results of trims, which are separate system calls and complete before `submit`
    /// returns.
    trims: Vec<(u32, i32)>,
    decisions: Vec<Decision>,
}

#[cfg(test)]
impl<N: SubmissionEntries> Uring<KernelRing, N> {
    /// Same as `with_wrapper`, but without a wrapper.
    pub(crate) fn new(files: &[OwnedFd], slots: u32, setup: &Setup) -> io::Result<Self> {
        Self::with_wrapper(files, slots, setup, |ring| ring)
    }
}

impl<R: Ring, N: SubmissionEntries> Uring<R, N> {
    /// Creates a ring for `slots` I/Os on these files, which must stay open for the lifetime of the
    /// ring. Must be called on the thread that uses the ring. `wrap` wraps the kernel's ring.
    ///
    /// # Errors
    /// Returns errors from io_uring_setup(2) and io_uring_register(2).
    pub(crate) fn with_wrapper(
        files: &[OwnedFd],
        slots: u32,
        setup: &Setup,
        wrap: impl FnOnce(KernelRing) -> R,
    ) -> io::Result<Self> {
        let entries = entries_for(slots, setup.polling);
        let (mut ring, features) = KernelRing::new(entries, setup.polling)?;
        if let Some((base, bytes)) = setup.buffer {
            // SAFETY: the loop keeps the pool mapped as long as I/Os are in flight.
            unsafe { ring.register_buffer(base, bytes) }.map_err(registration_error)?;
        }
        let files: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.register_files(&files)?;
        let has_registered_ring = ring.register_ring();
        ring.enable(setup.only_reads)?;
        let mut engine = Self::from_ring(wrap(ring), files, slots, setup.spin_ns);
        engine.decisions = decisions(features, has_registered_ring, setup);
        Ok(engine)
    }

    fn from_ring(ring: R, files: Vec<RawFd>, slots: u32, spin_ns: u64) -> Self {
        Self {
            ring,
            entries: PhantomData,
            spin_ns,
            files,
            trims: Vec::with_capacity(slots as usize),
            decisions: Vec::new(),
        }
    }

    #[cold]
    fn submit_rare(&mut self, slot: u32, io: &Io) {
        if io.kind == Kind::Trim {
            let result = synchronous::discard(self.files[usize::from(io.target)], io);
            return self.trims.push((slot, result));
        }
        let flags = if io.kind == Kind::Datasync {
            FsyncFlags::DATASYNC
        } else {
            FsyncFlags::empty()
        };
        let fsync = opcode::Fsync::new(Fixed(u32::from(io.target))).flags(flags);
        // SAFETY: an fsync entry points to no memory.
        unsafe { self.push(slot, fsync.build()) }
    }

    /// Polls for completions without sleeping. Returns true if `at_least` completions are ready,
    /// false once the polling time has elapsed.
    #[cold]
    fn spin(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<bool> {
        let end_ns = Monotonic.now_ns() + self.spin_ns.min(timeout_ns.unwrap_or(u64::MAX));
        while Monotonic.now_ns() < end_ns {
            ignore_transient(self.ring.enter(true, 0, None))?;
            if self.ring.ready() >= at_least as usize {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// # Safety
    /// Same as [`Ring::push`]. [`entries_for`] guarantees that the queue has space.
    #[inline(always)]
    unsafe fn push(&mut self, slot: u32, entry: squeue::Entry) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.ring.push(&entry.user_data(u64::from(slot))) };
    }
}

impl<R: Ring, N: SubmissionEntries> Engine for Uring<R, N> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        // Each kind has a separate call to `push`: an entry that comes from one of several branches
        // would be copied twice.
        // SAFETY: the caller keeps the buffer valid until the slot is reaped; the files are
        // registered.
        unsafe {
            match io.kind {
                Kind::Read => self.push(slot, N::read(io, buffer)),
                Kind::Write => self.push(slot, N::write(io, buffer)),
                _ => self.submit_rare(slot, io),
            }
        }
    }

    #[inline(always)]
    fn commit(&mut self, in_flight: usize) -> io::Result<()> {
        let mut queued = self.ring.queued();
        // With deferred task work, completions are processed only by calls that request them
        // (IORING_ENTER_GETEVENTS). There are none if no I/O was in flight.
        let reap = in_flight > queued;
        while queued > 0 {
            match self.ring.enter(reap, 0, None) {
                Ok(()) => {}
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    // The kernel has no memory for requests, or the completion queue is full: reap,
                    // then retry.
                    Some(libc::EAGAIN | libc::EBUSY) => break,
                    _ => return Err(error),
                },
            }
            queued = if self.ring.is_polled() {
                0
            } else {
                self.ring.queued()
            };
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        if !self.trims.is_empty() {
            return Ok(());
        }
        if self.spin_ns == 0 || !self.spin(at_least, timeout_ns)? {
            ignore_transient(self.ring.enter(true, at_least, timeout_ns))?;
        }
        Ok(())
    }

    fn decisions(&self) -> Vec<Decision> {
        self.decisions.clone()
    }

    #[inline]
    fn ready(&self) -> usize {
        self.ring.ready() + self.trims.len()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        match self.ring.pop() {
            Some((slot, result)) => Some((slot as u32, result)),
            None => self.trims.pop(),
        }
    }
}

fn registration_error(error: io::Error) -> io::Error {
    let message = format!(
        "cannot register the buffers: {error}; the limits are ulimit -l and 1 GiB per worker"
    );
    io::Error::new(error.kind(), message)
}

/// Ignores signals, timeouts and a full completion queue, which are not errors: the loop reaps the
/// available completions.
fn ignore_transient(entered: io::Result<()>) -> io::Result<()> {
    match entered {
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY)
            ) =>
        {
            Ok(())
        }
        entered => entered,
    }
}
