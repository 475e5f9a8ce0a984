//! One system call per I/O: pread(2), pwrite(2), fsync(2), and the BLKDISCARD ioctl for trims. The
//! depth is always 1. rustix calls the kernel directly; the C library's calls are cancellation
//! points, which add a small overhead.

use crate::load::{
    engine::Engine,
    pattern::io::{Io, Kind},
};
use rustix::{
    fs::{fdatasync, fsync},
    io::{pread, pwrite},
};
use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd},
    slice,
};

/// `_IO(0x12, 119)` in linux/fs.h.
const BLKDISCARD: libc::Ioctl = 0x1277;

#[derive(Debug)]
pub(crate) struct Psync {
    files: Vec<RawFd>,
    completed: Option<(u32, i32)>,
}

impl Psync {
    /// The files must stay open for the lifetime of the engine.
    pub(crate) fn new(files: &[OwnedFd]) -> Self {
        Self {
            files: files.iter().map(AsRawFd::as_raw_fd).collect(),
            completed: None,
        }
    }
}

impl Engine for Psync {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        // SAFETY: the caller keeps the buffer valid until `pop`, and the system call returns before
        // that.
        let result = unsafe { perform(self.files[usize::from(io.target)], io, buffer) };
        self.completed = Some((slot, result));
    }

    #[inline]
    fn ready(&self) -> usize {
        usize::from(self.completed.is_some())
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.completed.take()
    }
}

/// Performs an I/O. Returns the number of bytes transferred, or a negative errno.
///
/// # Safety
/// `buffer` must be valid for `io.len` bytes of a read or write, and `file` must be open.
#[inline(always)]
unsafe fn perform(file: RawFd, io: &Io, buffer: *mut u8) -> i32 {
    // SAFETY: guaranteed by the caller; the pages are initialized since `BufferPool::new`.
    let bytes = || unsafe { slice::from_raw_parts_mut(buffer, io.len as usize) };
    // SAFETY: the caller keeps the file open.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    // Not a `match`, which would compile to a jump table: see `Loop::run`.
    let result = if io.kind == Kind::Read {
        pread(file, bytes(), io.offset)
    } else if io.kind == Kind::Write {
        pwrite(file, bytes(), io.offset)
    } else {
        return perform_rare(file, io);
    };
    result.map_or_else(|errno| -errno.raw_os_error(), |moved| moved as i32)
}

#[cold]
fn perform_rare(file: BorrowedFd<'_>, io: &Io) -> i32 {
    let result = match io.kind {
        Kind::Trim => return discard(file.as_raw_fd(), io),
        Kind::Datasync => fdatasync(file),
        _ => fsync(file),
    };
    result.map_or_else(|errno| -errno.raw_os_error(), |()| 0)
}

/// Discards a range of a block device (BLKDISCARD, linux/fs.h). Returns the number of bytes
/// discarded, or a negative errno.
pub(crate) fn discard(file: RawFd, io: &Io) -> i32 {
    let range: [u64; 2] = [io.offset, u64::from(io.len)];
    // SAFETY: BLKDISCARD reads two u64 values; `range` holds them and outlives the call.
    let result = unsafe { libc::ioctl(file, BLKDISCARD, range.as_ptr()) };
    if result < 0 {
        -io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO)
    } else {
        io.len as i32
    }
}
