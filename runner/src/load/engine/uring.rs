//! io_uring: I/Os are entries in a ring that the kernel shares; one system call hands over a whole batch.
//!
//! How it submits and waits: everything that is due is put into the ring, one enter hands it over, everything that is
//! complete is reaped, and only when nothing is due does it sleep, for one completion. So the asked depth is refilled at
//! once, and an I/O that the page cache answers costs no second call. While I/Os linger, at most two go with a call: a
//! device that would idle until a whole batch is prepared begins with the first. Completions are worked on in the submitter's own context
//! (DEFER_TASKRUN); files, buffers and the ring itself are registered where the kernel lets us.

pub(crate) mod decisions;
pub(crate) mod entries;
#[cfg(test)]
pub(crate) mod shim;
#[cfg(test)]
pub(crate) mod tests;

use crate::load::engine::ring::{KernelRing, Polling, Ring};
use crate::load::engine::uring::entries::Entries;
use crate::load::engine::{Engine, psync};
use crate::load::pattern::{Io, Kind};
use crate::system::clock::{Clock, Monotonic};
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{opcode, squeue};
use leadline_protocol::report::Decision;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The most entries of a ring (IORING_MAX_ENTRIES, io_uring/io_uring.h).
const MAX_ENTRIES: u32 = 32_768;

/// Entries of a ring for so many slots: one for each, since a slot has at most one I/O. A polling thread tells only after a
/// batch, whose completions it has posted by then (io_submit_sqes), that it has taken it: as many slots may be filled anew
/// while their old entries still count as queued.
fn entries_for(slots: u32, polling: Polling) -> u32 {
    let each = if polling.submissions { 2 } else { 1 };
    slots.saturating_mul(each).clamp(1, MAX_ENTRIES)
}

/// What a job chose of the ring.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Memory to register as buffer: where it begins, and its bytes. For [`entries::Registered`].
    pub buffer: Option<(*mut u8, usize)>,
    /// Why the kernel would not register it, where that was tried.
    pub refused: Option<String>,
    /// Who polls.
    pub polling: Polling,
    /// How long to look for completions before going to sleep, in ns.
    pub spin_ns: u64,
}

/// Does I/O through a ring.
pub struct Uring<R, N> {
    ring: R,
    entries: PhantomData<N>,
    spin_ns: u64,
    files: Vec<RawFd>,
    /// Trims, which are a system call here: done before `submit` returns.
    done: Vec<(u32, i32)>,
    decisions: Vec<Decision>,
}

impl<N: Entries> Uring<KernelRing, N> {
    /// A ring for `slots` I/Os on these files, which must stay open as long as it lives. To be made by the thread that
    /// will use it.
    ///
    /// # Errors
    /// What io_uring_setup(2) or io_uring_register(2) says.
    pub fn new(files: &[OwnedFd], slots: u32, setup: &Setup) -> io::Result<Self> {
        Self::around(files, slots, setup, |ring| ring)
    }
}

impl<R: Ring, N: Entries> Uring<R, N> {
    /// As `new`, with something around the kernel's ring.
    pub(crate) fn around(
        files: &[OwnedFd],
        slots: u32,
        setup: &Setup,
        wrap: impl FnOnce(KernelRing) -> R,
    ) -> io::Result<Self> {
        let (mut ring, features) =
            KernelRing::new(entries_for(slots, setup.polling), setup.polling)?;
        if let Some((base, bytes)) = setup.buffer {
            // SAFETY: the loop keeps the pool mapped as long as I/Os are in flight.
            unsafe { ring.register_buffer(base, bytes) }.map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!(
                        "registering the buffers: {error}; ulimit -l bounds them, and 1 GiB does"
                    ),
                )
            })?;
        }
        let files: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.register_files(&files)?;
        let registered_ring = ring.register_ring();
        let decisions = decisions::all(features, registered_ring, setup);
        Ok(Self {
            decisions,
            ..Self::on(wrap(ring), files, slots, setup)
        })
    }

    fn on(ring: R, files: Vec<RawFd>, slots: u32, setup: &Setup) -> Self {
        let done = Vec::with_capacity(slots as usize);
        Self {
            ring,
            entries: PhantomData,
            spin_ns: setup.spin_ns,
            files,
            done,
            decisions: Vec::new(),
        }
    }

    #[cold]
    fn submit_rare(&mut self, slot: u32, io: &Io) {
        if io.kind == Kind::Trim {
            return self
                .done
                .push((slot, psync::discard(self.files[usize::from(io.target)], io)));
        }
        let flags = if io.kind == Kind::Datasync {
            FsyncFlags::DATASYNC
        } else {
            FsyncFlags::empty()
        };
        // SAFETY: a sync points to no memory.
        unsafe {
            self.push(
                slot,
                opcode::Fsync::new(Fixed(u32::from(io.target)))
                    .flags(flags)
                    .build(),
            )
        }
    }

    /// Looks for completions without sleeping; tells whether there are enough, or none are to be waited for any longer.
    #[cold]
    fn spin(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<bool> {
        let end_ns = Monotonic.now_ns() + self.spin_ns.min(timeout_ns.unwrap_or(u64::MAX));
        while Monotonic.now_ns() < end_ns {
            look_again(self.ring.enter(true, 0, None))?;
            if self.ring.ready() >= at_least as usize {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// # Safety
    /// As [`Ring::push`]. There is room: see [`entries_for`].
    #[inline(always)]
    unsafe fn push(&mut self, slot: u32, entry: squeue::Entry) {
        // SAFETY: as the caller vouches.
        unsafe { self.ring.push(&entry.user_data(u64::from(slot))) };
    }
}

impl<R: Ring, N: Entries> Engine for Uring<R, N> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        // Each kind is pushed by itself: an entry that came from one of several places would be copied twice.
        // SAFETY: the caller keeps the buffer valid until the slot is reaped, and the files are registered.
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
        // Deferred completions are worked on in calls that ask for them; where nothing was in flight there are none.
        let mut queued = self.ring.queued();
        let finish = in_flight > queued;
        while queued > 0 {
            match self.ring.enter(finish, 0, None) {
                Ok(()) => {}
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    // The kernel has no memory for requests, or the completion ring is full: reap first, then again.
                    Some(libc::EAGAIN | libc::EBUSY) => break,
                    _ => return Err(error),
                },
            }
            queued = if self.ring.is_served() {
                0
            } else {
                self.ring.queued()
            };
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        if !self.done.is_empty() {
            return Ok(());
        }
        if self.spin_ns == 0 || !self.spin(at_least, timeout_ns)? {
            look_again(self.ring.enter(true, at_least, timeout_ns))?;
        }
        Ok(())
    }

    fn decisions(&self) -> Vec<Decision> {
        self.decisions.clone()
    }

    #[inline]
    fn ready(&self) -> usize {
        self.ring.ready() + self.done.len()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        match self.ring.pop() {
            Some((slot, result)) => Some((slot as u32, result)),
            None => self.done.pop(),
        }
    }
}

/// A signal, the timeout, or a full completion ring: the loop looks at what there is.
fn look_again(entered: io::Result<()>) -> io::Result<()> {
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
