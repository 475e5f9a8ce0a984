//! The ring: one system call submits all queued entries and returns completions. `uring` decides
//! when to submit and what an errno means. Tests substitute a scripted ring.
//!
//! The queues stay borrowed for the lifetime of the ring, and the ring's file descriptor is
//! registered. A batch then costs one store to the tail, one system call without a descriptor
//! lookup, and one store to the head.

use crate::{load::engine::uring::setup::Polling, system::clock::NS_PER_SECOND};
use io_uring::{
    CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, opcode,
    register::Restriction,
    squeue,
    types::{SubmitArgs, Timespec},
};
use std::{io, os::fd::RawFd, ptr::NonNull};

/// A submission queue and a completion queue.
pub(crate) trait Ring {
    /// Adds an entry to the submission queue, which must have space.
    ///
    /// # Safety
    /// Memory that the entry points to must stay valid until the completion is popped.
    unsafe fn push(&mut self, entry: &squeue::Entry);

    /// Number of entries not yet accepted by the kernel.
    fn queued(&self) -> usize;

    /// Returns true if a kernel thread polls the submission queue.
    fn is_polled(&self) -> bool {
        false
    }

    /// Performs one system call: submits all queued entries, processes pending completions if
    /// `reap` is set, and sleeps until there are `at_least` completions or the timeout expires.
    ///
    /// # Errors
    /// Returns errors from io_uring_enter(2).
    fn enter(&mut self, reap: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()>;

    /// Number of completions that the last `enter` found and `pop` has not returned yet.
    fn ready(&self) -> usize;

    /// User data and result of a completion that the last `enter` found.
    fn pop(&mut self) -> Option<(u64, i32)>;
}

pub(crate) struct KernelRing {
    // Fields are dropped in declaration order: the queues point into the ring.
    submission: SubmissionQueue<'static>,
    completion: CompletionQueue<'static>,
    submitter: Submitter<'static>,
    is_polled: bool,
    _owner: Owner,
}

/// Idle time before the SQPOLL thread sleeps, in ms: far longer than the gaps between submissions
/// in a benchmark.
const SQPOLL_IDLE_MS: u32 = 100;

/// Setup flags by kernel version; kernels that do not support them return EINVAL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Features {
    /// SINGLE_ISSUER, DEFER_TASKRUN (6.1) and NO_SQARRAY (6.6).
    All,
    /// SINGLE_ISSUER and DEFER_TASKRUN.
    Deferred,
    Plain,
}

/// Frees the ring.
struct Owner(NonNull<IoUring>);

impl KernelRing {
    /// Sets up a ring with all features that the kernel supports and `polling` permits, disabled
    /// until [`Self::enable`]. Must be called on the thread that uses the ring.
    ///
    /// # Errors
    /// Returns errors from io_uring_setup(2): EINVAL before Linux 5.10.
    pub(crate) fn new(entries: u32, polling: Polling) -> io::Result<(Self, Features)> {
        if !polling.submissions {
            for features in [Features::All, Features::Deferred] {
                match build(entries, features, polling) {
                    Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
                    ring => return Ok((Self::from_ring(ring?, polling), features)),
                }
            }
        }
        let ring = build(entries, Features::Plain, polling)?;
        Ok((Self::from_ring(ring, polling), Features::Plain))
    }

    /// Enables the ring after all registrations. If `only_reads` is set, the kernel then completes
    /// all entries other than reads with EACCES, and permits no further registrations.
    ///
    /// # Errors
    /// Returns errors from io_uring_register(2).
    pub(crate) fn enable(&mut self, only_reads: bool) -> io::Result<()> {
        if only_reads {
            self.submitter.register_restrictions(&mut [
                Restriction::sqe_op(opcode::Read::CODE),
                Restriction::sqe_op(opcode::ReadFixed::CODE),
                Restriction::sqe_flags_allowed(squeue::Flags::FIXED_FILE.bits()),
            ])?;
        }
        self.submitter.register_enable_rings()
    }

    fn from_ring(ring: IoUring, polling: Polling) -> Self {
        let owner = Owner(NonNull::from(Box::leak(Box::new(ring))));
        // SAFETY: the box lives until `owner` is dropped, after the three parts, and nothing else
        // references it.
        let (submitter, submission, completion) = unsafe { &mut *owner.0.as_ptr() }.split();
        Self {
            submission,
            completion,
            submitter,
            is_polled: polling.submissions,
            _owner: owner,
        }
    }

    /// Registers files. `Fixed(n)` then refers to the nth file.
    ///
    /// # Errors
    /// Returns errors from io_uring_register(2).
    pub(crate) fn register_files(&mut self, files: &[RawFd]) -> io::Result<()> {
        self.submitter.register_files(files)
    }

    /// Registers memory as buffer 0.
    ///
    /// # Errors
    /// Returns errors from io_uring_register(2): ENOMEM above RLIMIT_MEMLOCK, EFAULT above 1 GiB.
    ///
    /// # Safety
    /// The memory must stay mapped while I/Os use it.
    pub(crate) unsafe fn register_buffer(&mut self, base: *mut u8, bytes: usize) -> io::Result<()> {
        let buffer = libc::iovec {
            iov_base: base.cast(),
            iov_len: bytes,
        };
        // SAFETY: the caller keeps the memory mapped.
        unsafe { self.submitter.register_buffers(&[buffer]) }
    }

    /// Registers the ring's file descriptor. Returns true on success (Linux 5.18 or later).
    pub(crate) fn register_ring(&mut self) -> bool {
        self.submitter.register_ring_fd().is_ok()
    }

    #[inline]
    fn call(&self, reap: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        let queued = self.submission.len() as u32;
        let mut flags = if reap {
            EnterFlags::GETEVENTS
        } else {
            EnterFlags::empty()
        };
        if self.is_polled {
            if self.submission.need_wakeup() {
                flags |= EnterFlags::SQ_WAKEUP;
            } else if at_least == 0 {
                return Ok(());
            }
        }
        let Some(ns) = timeout_ns else {
            // SAFETY: no argument is passed, and the memory of every entry is valid (see `push`).
            let entered = unsafe {
                self.submitter
                    .enter::<libc::sigset_t>(queued, at_least, flags.bits(), None)
            };
            return entered.map(drop);
        };
        let timeout = Timespec::new()
            .sec(ns / NS_PER_SECOND)
            .nsec((ns % NS_PER_SECOND) as u32);
        let args = SubmitArgs::new().timespec(&timeout);
        flags |= EnterFlags::EXT_ARG;
        // SAFETY: EXT_ARG matches the type of `args`, which outlives the call.
        unsafe {
            self.submitter
                .enter(queued, at_least, flags.bits(), Some(&args))
        }
        .map(drop)
    }
}

fn build(entries: u32, features: Features, polling: Polling) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_r_disabled();
    if polling.device {
        builder.setup_iopoll();
    }
    if polling.submissions {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
    }
    if features != Features::Plain {
        builder.setup_single_issuer().setup_defer_taskrun();
    }
    if features == Features::All {
        builder.setup_no_sqarray();
    }
    builder.build(entries)
}

impl Ring for KernelRing {
    #[inline]
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: the caller keeps the entry's memory valid.
        unsafe { self.submission.push(entry) }.expect("the queue has space for each slot");
    }

    #[inline]
    fn queued(&self) -> usize {
        self.submission.len()
    }

    #[inline]
    fn is_polled(&self) -> bool {
        self.is_polled
    }

    #[inline]
    fn enter(&mut self, reap: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.submission.sync();
        if reap {
            // The kernel counts completions left in the queue toward `at_least`, and does not poll
            // the device while there are any (io_iopoll_check). Without `reap`, the head may be
            // published later: the completion queue is twice as large as the submission queue, so
            // it has space for those entries and all I/Os in flight.
            self.completion.sync();
        }
        let result = self.call(reap, at_least, timeout_ns);
        // The completion queue must be synchronized first: a completed I/O was accepted by a system
        // call that has returned, or by the SQPOLL thread's current call (`uring::entries_for`).
        self.completion.sync();
        self.submission.sync();
        result
    }

    #[inline]
    fn ready(&self) -> usize {
        self.completion.len()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, i32)> {
        self.completion
            .next()
            .map(|entry| (entry.user_data(), entry.result()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box in `from_ring`, and the parts that borrowed it have
        // been dropped.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
