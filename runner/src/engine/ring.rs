//! The ring itself, as the kernel sees it: entries go in, one system call hands them over, completions come out. What
//! is handed over when, and what an errno means, is for `uring`; tests put another ring in this one's place.
//!
//! The queues are kept borrowed for the ring's life, and the ring's own descriptor is registered, so that a batch costs
//! one store of the tail, one system call without a descriptor lookup, and one store of the head.

use std::io;
use std::ptr::NonNull;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, squeue};

use crate::clock::SECOND_NS;

/// A submission and a completion queue.
pub trait Ring {
    /// Puts an entry into the submission queue, which has room for it.
    ///
    /// # Safety
    /// What the entry points to must stay valid until its completion came out.
    unsafe fn push(&mut self, entry: &squeue::Entry);

    /// Entries that the kernel has not taken yet.
    fn queued(&self) -> usize;

    /// One system call: hands over what is queued, gives the kernel the occasion to complete what is done when `finish`
    /// is set, and sleeps until `at_least` completions are there or `timeout_ns` are over.
    ///
    /// # Errors
    /// What io_uring_enter(2) says.
    fn enter(&mut self, finish: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()>;

    /// Takes out a completion that the last `enter` found: user data and result.
    fn pop(&mut self) -> Option<(u64, i32)>;
}

/// A ring of the kernel's.
pub struct KernelRing {
    // Fields are dropped in their order: the queues point into the ring.
    submission: SubmissionQueue<'static>,
    completion: CompletionQueue<'static>,
    submitter: Submitter<'static>,
    _owner: Owner,
}

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
    /// A ring of so many entries with as many features as the kernel knows. To be made by the thread that uses it.
    ///
    /// # Errors
    /// What io_uring_setup(2) says.
    pub fn new(entries: u32) -> io::Result<(Self, Features)> {
        for features in [Features::All, Features::Deferred] {
            match build(entries, features) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
                made => return Ok((Self::around(made?), features)),
            }
        }
        Ok((Self::around(build(entries, Features::Plain)?), Features::Plain))
    }

    fn around(ring: IoUring) -> Self {
        let owner = Owner(NonNull::from(Box::leak(Box::new(ring))));
        // SAFETY: the box lives until `owner` is dropped, which is after the three parts, and nobody else refers to it.
        let (submitter, submission, completion) = unsafe { &mut *owner.0.as_ptr() }.split();
        Self { submission, completion, submitter, _owner: owner }
    }

    /// Registers the files, so that `Fixed(n)` is the nth of them.
    ///
    /// # Errors
    /// What io_uring_register(2) says.
    pub fn register_files(&mut self, files: &[std::os::fd::RawFd]) -> io::Result<()> {
        self.submitter.register_files(files)
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
        let flags = if finish { EnterFlags::GETEVENTS } else { EnterFlags::empty() };
        let Some(ns) = timeout_ns else {
            // SAFETY: no argument is passed, and every entry's memory is valid (`push`).
            return unsafe { self.submitter.enter::<libc::sigset_t>(queued, at_least, flags.bits(), None) }.map(drop);
        };
        let timeout = Timespec::new().sec(ns / SECOND_NS).nsec((ns % SECOND_NS) as u32);
        let args = SubmitArgs::new().timespec(&timeout);
        // SAFETY: EXT_ARG says what the argument is, and it lives for the call.
        unsafe { self.submitter.enter(queued, at_least, (flags | EnterFlags::EXT_ARG).bits(), Some(&args)) }.map(drop)
    }
}

fn build(entries: u32, features: Features) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
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
        unsafe { self.submission.push(entry) }.expect("one entry per slot");
    }

    #[inline]
    fn queued(&self) -> usize {
        self.submission.len()
    }

    #[inline]
    fn enter(&mut self, finish: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        // What was pushed and popped is told to the kernel, which counts what lies in the queue towards `at_least`.
        self.submission.sync();
        self.completion.sync();
        let result = self.call(finish, at_least, timeout_ns);
        self.submission.sync();
        self.completion.sync();
        result
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, i32)> {
        self.completion.next().map(|entry| (entry.user_data(), entry.result()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: it came from a box in `around`, and the parts that borrowed it are gone.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
