//! One system call an I/O: pread(2), pwrite(2), fsync(2), and the BLKDISCARD ioctl for trims. Depth is always 1.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::Engine;
use crate::pattern::{Io, Kind};

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
        Self { files: files.iter().map(AsRawFd::as_raw_fd).collect(), done: None }
    }
}

impl Engine for Psync {
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        // SAFETY: the caller keeps the buffer valid until `reap`; the call is over before.
        let result = unsafe { do_now(self.files[usize::from(io.target)], io, buffer) };
        self.done = Some((slot, result));
    }

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, _at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn reap(&mut self, mut complete: impl FnMut(u32, i32)) {
        if let Some((slot, result)) = self.done.take() {
            complete(slot, result);
        }
    }
}

/// Does one I/O and returns when it is done: bytes moved, or a negative errno.
///
/// # Safety
/// `buffer` must be valid for `io.len` bytes.
pub unsafe fn do_now(file: RawFd, io: &Io, buffer: *mut u8) -> i32 {
    let (length, offset) = (io.len as usize, io.offset as i64);
    let result = match io.kind {
        // SAFETY: the caller vouches for the buffer; a bad descriptor is an error, not undefined behaviour.
        Kind::Read => unsafe { libc::pread(file, buffer.cast(), length, offset) },
        // SAFETY: as above.
        Kind::Write => unsafe { libc::pwrite(file, buffer.cast(), length, offset) },
        // SAFETY: fsync takes no memory.
        Kind::Sync => unsafe { libc::fsync(file) as isize },
        // SAFETY: fdatasync takes no memory.
        Kind::Datasync => unsafe { libc::fdatasync(file) as isize },
        Kind::Trim => return discard(file, io),
    };
    if result < 0 { last_errno() } else { result as i32 }
}

/// Discards a range of a block device (BLKDISCARD, linux/fs.h); bytes discarded, or a negative errno.
pub fn discard(file: RawFd, io: &Io) -> i32 {
    let range: [u64; 2] = [io.offset, u64::from(io.len)];
    // SAFETY: BLKDISCARD reads two u64 from the address, which `range` holds for the call.
    let result = unsafe { libc::ioctl(file, BLKDISCARD, range.as_ptr()) };
    if result < 0 { last_errno() } else { io.len as i32 }
}

fn last_errno() -> i32 {
    -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
