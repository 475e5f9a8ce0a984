//! System calls that count cached pages: cachestat(2) (Linux 6.5) and mincore(2).

use rustix::{
    io::Errno,
    mm::{MapFlags, ProtFlags, mmap, munmap},
    param::page_size,
};
use std::{
    ffi::c_long,
    io,
    ops::Range,
    os::fd::{AsRawFd, BorrowedFd},
};

/// The system call number is the same on every architecture (include/uapi/asm-generic/unistd.h),
/// but libc defines it for only a few.
const SYS_CACHESTAT: c_long = 451;

/// `struct cachestat_range` in linux/mman.h.
#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// `struct cachestat` in linux/mman.h, in pages.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Cachestat {
    pub cached: u64,
    pub dirty: u64,
    pub writeback: u64,
    pub evicted: u64,
    pub recently_evicted: u64,
}

/// Counts the cached pages in a byte range. An empty range means the whole file.
///
/// # Errors
/// ENOSYS before Linux 6.5, EPERM for a file that the caller neither owns nor may write to.
pub(crate) fn cachestat(file: BorrowedFd, range: &Range<u64>) -> Result<Cachestat, Errno> {
    let range = CachestatRange {
        offset: range.start,
        length: range.end - range.start,
    };
    let mut found = Cachestat::default();
    // SAFETY: the kernel reads one cachestat_range and writes one cachestat, both on this stack;
    // the last argument, flags, is 0.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut found,
            0,
        )
    };
    if result == 0 {
        Ok(found)
    } else {
        Err(last_error())
    }
}

/// Number of cached pages in `length` bytes from `start`, which must be a multiple of the page
/// size.
pub(crate) fn mincore(file: BorrowedFd, start: u64, length: usize) -> Result<u64, Errno> {
    let pages = mincore_pages(file, start, length)?;
    Ok(pages.iter().filter(|&&page| page & 1 == 1).count() as u64)
}

/// One byte per page; bit 0 is set if the page is cached.
pub(crate) fn mincore_pages(file: BorrowedFd, start: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let mut is_cached = vec![0u8; length.div_ceil(page_size())];
    let address = std::ptr::null_mut();
    // SAFETY: maps at an address chosen by the kernel, and nothing accesses the mapping until it is
    // unmapped; the vector has one byte per page.
    let result = unsafe {
        let address = mmap(
            address,
            length,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            start,
        )?;
        let result = match libc::mincore(address, length, is_cached.as_mut_ptr()) {
            0 => Ok(()),
            _ => Err(last_error()),
        };
        munmap(address, length)?;
        result
    };
    result.map(|()| is_cached)
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
