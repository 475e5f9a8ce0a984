//! How a read and a write look as entries of the ring. One flavour per ring, chosen before the loop begins, so that the
//! loop asks for none.

use crate::load::pattern::Io;
use io_uring::squeue::Entry;
use io_uring::{opcode, types};

/// Index of the one registered buffer: the whole pool.
pub const POOL_BUFFER: u16 = 0;
/// Opcode of an entry that does nothing, and the flag by which it completes with its length (linux/io_uring.h, 6.10).
const IORING_OP_NOP: u8 = 0;
const IORING_NOP_INJECT_RESULT: i32 = 1;

/// Makes entries. Buffers and files are those of [`crate::load::engine::uring::Engine::submit`].
pub trait Entries {
    /// A read into the buffer.
    fn read(io: &Io, buffer: *mut u8) -> Entry;
    /// A write from the buffer.
    fn write(io: &Io, buffer: *mut u8) -> Entry;
}

/// Buffers are looked up at each I/O.
#[derive(Debug)]
pub struct Plain;

/// Buffers lie in the registered one.
#[derive(Debug)]
pub struct Registered;

/// Entries that complete without touching anything.
#[derive(Debug)]
pub struct Nop;

fn file(io: &Io) -> types::Fixed {
    types::Fixed(u32::from(io.target))
}

impl Entries for Plain {
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

impl Entries for Registered {
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

impl Entries for Nop {
    #[inline(always)]
    fn read(io: &Io, _buffer: *mut u8) -> Entry {
        let entry = opcode::Read::new(types::Fd(-1), std::ptr::null_mut(), io.len)
            .rw_flags(IORING_NOP_INJECT_RESULT);
        let mut entry = entry.build();
        // SAFETY: an entry is the kernel's struct io_uring_sqe (repr(C)), whose first byte is the opcode.
        unsafe { (&raw mut entry).cast::<u8>().write(IORING_OP_NOP) };
        entry
    }

    #[inline(always)]
    fn write(io: &Io, buffer: *mut u8) -> Entry {
        Self::read(io, buffer)
    }
}
