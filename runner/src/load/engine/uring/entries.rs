//! Submission queue entries for reads and writes. The kind of entry is a type parameter of the
//! engine, so the loop does not branch on it.

use crate::load::pattern::io::Io;
use io_uring::{opcode, squeue::Entry, types};

/// Index of the registered buffer, which covers the whole pool.
const POOL_BUFFER: u16 = 0;
/// Opcode of no-op entries, and the flag that makes them return the length as their result
/// (linux/io_uring.h, 6.10).
const IORING_OP_NOP: u8 = 0;
const IORING_NOP_INJECT_RESULT: i32 = 1;

/// Builds entries, with the buffers and files passed to `Engine::submit`.
pub(crate) trait SubmissionEntries {
    fn read(io: &Io, buffer: *mut u8) -> Entry;
    fn write(io: &Io, buffer: *mut u8) -> Entry;
}

/// Entries with unregistered buffers: the kernel looks up the buffer's pages for each I/O.
#[derive(Debug)]
pub(crate) struct Plain;

/// Entries whose buffers are part of the registered buffer.
#[derive(Debug)]
pub(crate) struct Registered;

/// Entries that complete without performing I/O.
#[derive(Debug)]
pub(crate) struct Nop;

fn file(io: &Io) -> types::Fixed {
    types::Fixed(u32::from(io.target))
}

impl SubmissionEntries for Plain {
    #[inline(always)]
    fn read(io: &Io, buffer: *mut u8) -> Entry {
        opcode::Read::new(file(io), buffer, io.len)
            .offset(io.offset)
            .build()
    }

    #[inline(always)]
    fn write(io: &Io, buffer: *mut u8) -> Entry {
        opcode::Write::new(file(io), buffer, io.len)
            .offset(io.offset)
            .build()
    }
}

impl SubmissionEntries for Registered {
    #[inline(always)]
    fn read(io: &Io, buffer: *mut u8) -> Entry {
        opcode::ReadFixed::new(file(io), buffer, io.len, POOL_BUFFER)
            .offset(io.offset)
            .build()
    }

    #[inline(always)]
    fn write(io: &Io, buffer: *mut u8) -> Entry {
        opcode::WriteFixed::new(file(io), buffer, io.len, POOL_BUFFER)
            .offset(io.offset)
            .build()
    }
}

impl SubmissionEntries for Nop {
    #[inline(always)]
    fn read(io: &Io, _buffer: *mut u8) -> Entry {
        let mut entry = opcode::Read::new(types::Fd(-1), std::ptr::null_mut(), io.len)
            .rw_flags(IORING_NOP_INJECT_RESULT)
            .build();
        // SAFETY: an entry is the kernel's struct io_uring_sqe (repr(C)); the first byte is the
        // opcode.
        unsafe { (&raw mut entry).cast::<u8>().write(IORING_OP_NOP) };
        entry
    }

    #[inline(always)]
    fn write(io: &Io, buffer: *mut u8) -> Entry {
        Self::read(io, buffer)
    }
}
