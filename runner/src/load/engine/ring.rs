//! The ring itself, as the kernel sees it: entries go in, one system call hands them over, completions come out. What
//! is handed over when, and what an errno means, is for `uring`; tests put another ring in this one's place.
//!
//! The queues are kept borrowed for the ring's life, and the ring's own descriptor is registered, so that a batch costs
//! one store of the tail, one system call without a descriptor lookup, and one store of the head.

use crate::system::clock::SECOND_NS;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, squeue};
use std::io;
use std::ptr::NonNull;

/// A submission and a completion queue.
pub trait Ring {
    /// Puts an entry into the submission queue, which has room for it.
    ///
    /// # Safety
    /// What the entry points to must stay valid until its completion came out.
    unsafe fn push(&mut self, entry: &squeue::Entry);

    /// Entries that the kernel has not taken yet.
    fn queued(&self) -> usize;

    /// Whether a thread of the kernel takes what is queued, by itself and soon.
    fn is_served(&self) -> bool {
        false
    }

    /// One system call: hands over what is queued, gives the kernel the occasion to complete what is done when `finish`
    /// is set, and sleeps until `at_least` completions are there or `timeout_ns` are over.
    ///
    /// # Errors
    /// What io_uring_enter(2) says.
    fn enter(&mut self, finish: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()>;

    /// Completions that the last `enter` found and that were not taken out.
    fn ready(&self) -> usize;

    /// Takes out a completion that the last `enter` found: user data and result.
    fn pop(&mut self) -> Option<(u64, i32)>;
}

/// A ring of the kernel's.
pub struct KernelRing {
    // Fields are dropped in their order: the queues point into the ring.
    submission: SubmissionQueue<'static>,
    completion: CompletionQueue<'static>,
    submitter: Submitter<'static>,
    /// Whether a thread of the kernel takes the entries.
    served: bool,
    _owner: Owner,
}

/// How the kernel and we meet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Polling {
    /// The device is polled for completions (IOPOLL).
    pub device: bool,
    /// A thread of the kernel polls for submissions (SQPOLL).
    pub submissions: bool,
}

/// How long that thread looks for submissions before it sleeps, in ms: the gaps of a benchmark are far shorter.
const SQPOLL_IDLE_MS: u32 = 100;

/// What kernels may not know; EINVAL says so.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Features {
    /// SINGLE_ISSUER, DEFER_TASKRUN (6.1) and NO_SQARRAY (6.6).
    All,
    /// SINGLE_ISSUER and DEFER_TASKRUN.
    Deferred,
    /// None of them.
    Plain,
}

/// Frees the ring.
struct Owner(NonNull<IoUring>);

impl KernelRing {
    /// A ring of so many entries with as many features as the kernel knows and `polling` allows. To be made by the thread
    /// that uses it.
    ///
    /// # Errors
    /// What io_uring_setup(2) says.
    pub fn new(entries: u32, polling: Polling) -> io::Result<(Self, Features)> {
        let known = [Features::All, Features::Deferred]
            .into_iter()
            .filter(|_| !polling.submissions);
        for features in known {
            match build(entries, features, polling) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
                made => return Ok((Self::around(made?, polling), features)),
            }
        }
        Ok((
            Self::around(build(entries, Features::Plain, polling)?, polling),
            Features::Plain,
        ))
    }

    fn around(ring: IoUring, polling: Polling) -> Self {
        let owner = Owner(NonNull::from(Box::leak(Box::new(ring))));
        // SAFETY: the box lives until `owner` is dropped, which is after the three parts, and nobody else refers to it.
        let (submitter, submission, completion) = unsafe { &mut *owner.0.as_ptr() }.split();
        Self {
            submission,
            completion,
            submitter,
            served: polling.submissions,
            _owner: owner,
        }
    }

    /// Registers the files, so that `Fixed(n)` is the nth of them.
    ///
    /// # Errors
    /// What io_uring_register(2) says.
    pub fn register_files(&mut self, files: &[std::os::fd::RawFd]) -> io::Result<()> {
        self.submitter.register_files(files)
    }

    /// Registers a piece of memory as the buffer with the number 0.
    ///
    /// # Errors
    /// What io_uring_register(2) says: ENOMEM beyond RLIMIT_MEMLOCK, EFAULT beyond 1 GiB.
    ///
    /// # Safety
    /// The memory must stay mapped as long as I/Os use it.
    pub unsafe fn register_buffer(&mut self, base: *mut u8, bytes: usize) -> io::Result<()> {
        let buffer = libc::iovec {
            iov_base: base.cast(),
            iov_len: bytes,
        };
        // SAFETY: the caller keeps the memory mapped.
        unsafe { self.submitter.register_buffers(&[buffer]) }
    }

    /// Registers the ring's own descriptor; tells whether the kernel could (5.18).
    pub fn register_ring(&mut self) -> bool {
        self.submitter.register_ring_fd().is_ok()
    }
}

impl KernelRing {
    #[inline]
    fn call(&self, finish: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        let queued = self.submission.len() as u32;
        let mut flags = if finish {
            EnterFlags::GETEVENTS
        } else {
            EnterFlags::empty()
        };
        if self.served {
            if self.submission.need_wakeup() {
                flags |= EnterFlags::SQ_WAKEUP;
            } else if at_least == 0 {
                return Ok(());
            }
        }
        let Some(ns) = timeout_ns else {
            // SAFETY: no argument is passed, and every entry's memory is valid (`push`).
            return unsafe {
                self.submitter
                    .enter::<libc::sigset_t>(queued, at_least, flags.bits(), None)
            }
            .map(drop);
        };
        let timeout = Timespec::new()
            .sec(ns / SECOND_NS)
            .nsec((ns % SECOND_NS) as u32);
        let args = SubmitArgs::new().timespec(&timeout);
        // SAFETY: EXT_ARG says what the argument is, and it lives for the call.
        unsafe {
            self.submitter.enter(
                queued,
                at_least,
                (flags | EnterFlags::EXT_ARG).bits(),
                Some(&args),
            )
        }
        .map(drop)
    }
}

fn build(entries: u32, features: Features, polling: Polling) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
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
        // SAFETY: the caller keeps what the entry points to valid.
        unsafe { self.submission.push(entry) }
            .expect("room for what the slots can have in the queue");
    }

    #[inline]
    fn queued(&self) -> usize {
        self.submission.len()
    }

    #[inline]
    fn is_served(&self) -> bool {
        self.served
    }

    #[inline]
    fn enter(&mut self, finish: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.submission.sync();
        if finish {
            // The kernel counts what lies in the queue towards `at_least`, and polls no device while it finds something there
            // (io_iopoll_check). Otherwise it may learn later what was taken out: the queue has room for that and for all
            // that is in flight, being twice as long as the other.
            self.completion.sync();
        }
        let result = self.call(finish, at_least, timeout_ns);
        // In this order: what is seen to be complete was taken by a call that is over, or by the one that the polling thread
        // is in (`uring::entries_for`).
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
        // SAFETY: it came from a box in `around`, and the parts that borrowed it are gone.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
