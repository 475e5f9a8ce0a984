//! io_uring: I/Os are entries in a ring that the kernel shares; one system call hands over a whole batch.
//!
//! How it submits and waits: everything that is due is put into the ring, one enter hands it over, everything that is
//! complete is reaped, and only when nothing is does it sleep, for one completion. So the asked depth is refilled at
//! once and an I/O that the page cache answers costs no second call. Completions are worked on in the submitter's own
//! context (DEFER_TASKRUN) where the kernel can; files and the ring itself are registered, which saves a lookup each.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::{Engine, psync};
use crate::clock::SECOND_NS;
use crate::pattern::{Io, Kind};
use crate::report::Choice;

/// The most entries of a ring (IORING_MAX_ENTRIES, io_uring/io_uring.h).
pub const MAX_ENTRIES: u32 = 32_768;

/// Does I/O through a ring.
pub struct Uring {
    ring: IoUring,
    files: Vec<RawFd>,
    /// Trims, which are a system call here: done before `submit` returns.
    done: VecDeque<(u32, i32)>,
}

impl Uring {
    /// A ring for `slots` I/Os on these files, which must stay open as long as it lives. To be made by the thread that
    /// will use it. Tells what it chose and why.
    ///
    /// # Errors
    /// What io_uring_setup(2) or io_uring_register(2) says.
    pub fn new(files: &[OwnedFd], slots: u32) -> io::Result<(Self, Vec<Choice>)> {
        let entries = slots.clamp(1, MAX_ENTRIES);
        let (mut ring, deferred) = match builder().setup_defer_taskrun().build(entries) {
            Ok(ring) => (ring, true),
            // Before Linux 6.1 the flags are unknown: EINVAL.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => (IoUring::builder().build(entries)?, false),
            Err(error) => return Err(error),
        };
        let files: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.submitter().register_files(&files)?;
        let registered_ring = ring.submitter().register_ring_fd().is_ok();
        let choice = |name: &str, used: bool, yes: &str, no: &str| Choice {
            name: name.into(),
            used,
            reason: if used { yes } else { no }.into(),
        };
        let choices = vec![
            choice("registered_files", true, "saves the kernel a reference and a lookup per I/O", ""),
            choice(
                "single_issuer",
                deferred,
                "one thread submits, so the kernel need not lock",
                "this kernel does not know it (before 6.1)",
            ),
            choice(
                "deferred_task_work",
                deferred,
                "completions do not interrupt the submitter",
                "this kernel does not know it (before 6.1)",
            ),
            choice(
                "registered_ring",
                registered_ring,
                "saves the kernel a lookup per system call",
                "this kernel does not know it (before 5.18)",
            ),
        ];
        Ok((Self { ring, files, done: VecDeque::with_capacity(slots as usize) }, choices))
    }

    fn entry(io: &Io, buffer: *mut u8) -> squeue::Entry {
        let file = Fixed(u32::from(io.target));
        match io.kind {
            Kind::Read => opcode::Read::new(file, buffer, io.len).offset(io.offset).build(),
            Kind::Write => opcode::Write::new(file, buffer, io.len).offset(io.offset).build(),
            Kind::Datasync => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
            Kind::Sync | Kind::Trim => opcode::Fsync::new(file).build(),
        }
    }
}

fn builder() -> io_uring::Builder {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer();
    builder
}

impl Engine for Uring {
    #[inline]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        if io.kind == Kind::Trim {
            self.done.push_back((slot, psync::discard(self.files[usize::from(io.target)], io)));
            return;
        }
        let entry = Self::entry(io, buffer).user_data(u64::from(slot));
        // SAFETY: the caller keeps the buffer valid until the slot is reaped, and the files are registered.
        // There are as many entries as slots, and a slot has at most one I/O, so the ring cannot be full.
        unsafe { self.ring.submission().push(&entry) }.expect("one entry per slot");
    }

    #[inline]
    fn commit(&mut self) -> io::Result<()> {
        loop {
            match self.ring.submit() {
                Ok(_) if self.ring.submission().is_empty() => return Ok(()),
                Ok(_) => {}
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    // The kernel has no memory for requests, or the completion ring is full: reap first, then again.
                    Some(libc::EAGAIN | libc::EBUSY) => return Ok(()),
                    _ => return Err(error),
                },
            }
        }
    }

    #[inline]
    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        if !self.done.is_empty() {
            return Ok(());
        }
        let waited = match timeout_ns {
            None => self.ring.submit_and_wait(at_least as usize),
            Some(ns) => {
                let timeout = Timespec::new().sec(ns / SECOND_NS).nsec((ns % SECOND_NS) as u32);
                self.ring.submitter().submit_with_args(at_least as usize, &SubmitArgs::new().timespec(&timeout))
            }
        };
        match waited {
            Ok(_) => Ok(()),
            // A signal, the timeout, or a full completion ring: the loop looks at what there is.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn reap(&mut self, mut complete: impl FnMut(u32, i32)) {
        self.ring.completion().for_each(|entry| complete(entry.user_data() as u32, entry.result()));
        self.done.drain(..).for_each(|(slot, result)| complete(slot, result));
    }
}
