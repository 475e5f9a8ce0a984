//! Engines do I/O; the one loop (`measure`) drives them all. An engine takes I/Os into numbered slots, and gives each
//! slot back with its result. A synchronous engine has done the I/O when `submit` returns, an asynchronous one later;
//! the loop does not care.
//!
//! Not here: which I/O comes next (`pattern`), when (`pace`), what the results add up to (`ledger`).

pub(crate) mod fresh;
pub(crate) mod null;
pub(crate) mod psync;
pub(crate) mod ring;
pub(crate) mod uring;

use crate::load::pattern::Io;
use leadline_protocol::report::Decision;
use std::io;

/// Does I/O. Results are those of the system call: bytes moved, or a negative errno(3).
pub trait Engine {
    /// Takes one I/O into a slot. It may be done before this returns.
    ///
    /// # Safety
    /// `buffer` must stay valid for `io.len` bytes, and be touched by nobody else, until `pop` gives the slot back.
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8);

    /// Makes the kernel take whatever was submitted, with which `in_flight` I/Os are under way; nothing to do where `submit`
    /// has done it.
    ///
    /// # Errors
    /// What the system call says, where that concerns no single I/O.
    fn commit(&mut self, _in_flight: usize) -> io::Result<()> {
        Ok(())
    }

    /// Sleeps until `at_least` I/Os are complete, a signal comes, or `timeout_ns` have passed; not at all
    /// where `submit` has done it.
    ///
    /// # Errors
    /// As `commit`.
    fn wait(&mut self, _at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        Ok(())
    }

    /// What it chose, with the reason; told when its work is done.
    fn decisions(&self) -> Vec<Decision> {
        Vec::new()
    }

    /// Slots that `pop` would give back now.
    fn ready(&self) -> usize;

    /// Gives back a slot that is complete, with its result; `None` until the next `commit` or `wait` finds more.
    fn pop(&mut self) -> Option<(u32, i32)>;
}
