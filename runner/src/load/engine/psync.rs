//! One system call an I/O: pread(2), pwrite(2), fsync(2), and the BLKDISCARD ioctl for trims. Depth is always 1. The calls
//! are rustix's, which go to the kernel directly: the C library's are points of cancellation, which cost a little.

use crate::load::engine::Engine;
use crate::load::pattern::{Io, Kind};
use rustix::fs::{fdatasync, fsync};
use rustix::io::{pread, pwrite};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::slice;

/// `_IO(0x12, 119)` of linux/fs.h.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Does I/O with system calls that return when it is done.
#[derive(Debug)]
pub struct Psync {
    files: Vec<RawFd>,
    done: Option<(u32, i32)>,
}

impl Psync {
    /// Works on these files; they must stay open as long as it lives.
    pub fn new(files: &[OwnedFd]) -> Self {
        Self {
            files: files.iter().map(AsRawFd::as_raw_fd).collect(),
            done: None,
        }
    }
}

impl Engine for Psync {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        // SAFETY: the caller keeps the buffer valid until `pop`; the call is over before.
        let result = unsafe { do_now(self.files[usize::from(io.target)], io, buffer) };
        self.done = Some((slot, result));
    }

    #[inline]
    fn ready(&self) -> usize {
        usize::from(self.done.is_some())
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.done.take()
    }
}

/// Does one I/O and returns when it is done: bytes moved, or a negative errno.
///
/// # Safety
/// `buffer` must be valid for `io.len` bytes of a read or write, and `file` be open.
#[inline(always)]
unsafe fn do_now(file: RawFd, io: &Io, buffer: *mut u8) -> i32 {
    // SAFETY: the caller vouches for it; its pages are initialised since `BufferPool::new`.
    let bytes = || unsafe { slice::from_raw_parts_mut(buffer, io.len as usize) };
    // SAFETY: the caller keeps it open.
    let open = unsafe { BorrowedFd::borrow_raw(file) };
    // Not a `match`, which would jump through a table: see `Loop::run`.
    let result = if io.kind == Kind::Read {
        pread(open, bytes(), io.offset)
    } else if io.kind == Kind::Write {
        pwrite(open, bytes(), io.offset)
    } else {
        return do_rare(open, io);
    };
    result.map_or_else(|errno| -errno.raw_os_error(), |moved| moved as i32)
}

#[cold]
fn do_rare(file: BorrowedFd<'_>, io: &Io) -> i32 {
    let done = match io.kind {
        Kind::Trim => return discard(file.as_raw_fd(), io),
        Kind::Datasync => fdatasync(file),
        _ => fsync(file),
    };
    done.map_or_else(|errno| -errno.raw_os_error(), |()| 0)
}

/// Discards a range of a block device (BLKDISCARD, linux/fs.h); bytes discarded, or a negative errno.
pub fn discard(file: RawFd, io: &Io) -> i32 {
    let range: [u64; 2] = [io.offset, u64::from(io.len)];
    // SAFETY: BLKDISCARD reads two u64 from the address, which `range` holds for the call.
    let result = unsafe { libc::ioctl(file, BLKDISCARD, range.as_ptr()) };
    if result < 0 {
        -io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO)
    } else {
        io.len as i32
    }
}
