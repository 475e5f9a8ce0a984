//! Engines with one blocking system call per I/O. They differ only in the call that transfers data;
//! fsync(2), fdatasync(2) and the BLKDISCARD ioctl for trims are the same. The depth is always 1.
//! rustix calls the kernel directly; the C library's calls are cancellation points, which add a
//! small overhead.

pub(crate) mod psync;
pub(crate) mod pvsync;
pub(crate) mod sync;

use crate::load::{
    engine::Engine,
    pattern::io::{Io, Kind},
};
use rustix::{
    fs::{fdatasync, fsync},
    io::Errno,
};
use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd},
    slice,
};

/// `_IO(0x12, 119)` in linux/fs.h.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// The system calls that transfer data. Both return the number of bytes transferred.
pub(crate) trait Transfer {
    fn read(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &mut [u8]) -> Result<usize, Errno>;

    fn write(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &[u8]) -> Result<usize, Errno>;
}

#[derive(Debug)]
pub(crate) struct Synchronous<T> {
    files: Vec<RawFd>,
    transfer: T,
    completed: Option<(u32, i32)>,
}

impl<T> Synchronous<T> {
    /// The files must stay open for the lifetime of the engine.
    pub(crate) fn with(files: &[OwnedFd], transfer: T) -> Self {
        Self {
            files: files.iter().map(AsRawFd::as_raw_fd).collect(),
            transfer,
            completed: None,
        }
    }
}

impl<T: Transfer> Engine for Synchronous<T> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        let file = self.files[usize::from(io.target)];
        // SAFETY: the caller keeps the buffer valid until `pop`, and the system call returns before
        // that. The file is open.
        let result = unsafe { perform(&mut self.transfer, file, io, buffer) };
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
unsafe fn perform(transfer: &mut impl Transfer, file: RawFd, io: &Io, buffer: *mut u8) -> i32 {
    // SAFETY: guaranteed by the caller; the pages are initialized since `BufferPool::new`.
    let bytes = || unsafe { slice::from_raw_parts_mut(buffer, io.len as usize) };
    // SAFETY: the caller keeps the file open.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    // Not a `match`, because that would compile to a jump table (see `Loop::run`).
    let result = if io.kind == Kind::Read {
        transfer.read(file, io, bytes())
    } else if io.kind == Kind::Write {
        transfer.write(file, io, bytes())
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
