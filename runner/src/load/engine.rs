//! I/O engines. An engine accepts I/Os into numbered slots and returns each slot with its result. A
//! synchronous engine has the result when `submit` returns; an asynchronous engine has it later.

pub(crate) mod libaio;
pub(crate) mod mmap;
pub(crate) mod null;
pub(crate) mod synchronous;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod uring;
pub(crate) mod verified_writes;
pub(crate) mod write_buffers;

use crate::load::{pattern::io::Io, verify::written_blocks::WrittenBlocks};
use leadline_protocol::report::Decision;
use std::io;

/// Results are the return values of system calls: bytes transferred, or a negative errno(3).
pub(crate) trait Engine {
    /// Accepts an I/O into a slot. The I/O may complete before this returns.
    ///
    /// # Safety
    /// Until `pop` returns the slot, `buffer` must be valid for `io.len` bytes, and nothing else
    /// may access it.
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8);

    /// Passes all submitted I/Os to the kernel. `in_flight` includes these I/Os.
    ///
    /// # Errors
    /// Returns errors from the system call itself, not from individual I/Os.
    fn commit(&mut self, _in_flight: usize) -> io::Result<()> {
        Ok(())
    }

    /// Sleeps until `at_least` I/Os are complete, a signal arrives, or the timeout expires.
    ///
    /// # Errors
    /// Same as `commit`.
    fn wait(&mut self, _at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        Ok(())
    }

    /// Decisions for the report, with their reasons.
    fn decisions(&self) -> Vec<Decision> {
        Vec::new()
    }

    /// Returns the last-write table of a job that uses `verify`. Must be called after the last I/O.
    fn take_written(&mut self) -> Option<WrittenBlocks> {
        None
    }

    /// Number of slots that `pop` would return.
    fn ready(&self) -> usize;

    /// Returns a completed slot with its result; `None` until `commit` or `wait` finds more
    /// completions.
    fn pop(&mut self) -> Option<(u32, i32)>;
}

/// Whether a result means that the I/O must be submitted again.
#[cold]
pub(crate) fn is_retryable(result: i32) -> bool {
    result == -libc::EAGAIN || result == -libc::EINTR
}
