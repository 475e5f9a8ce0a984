//! Memory-mapped files: a read copies from the mapping, a write copies to it, and a sync is
//! msync(2). Page faults read missing pages into the page cache; the kernel writes modified pages
//! back. The depth is always 1. A page fault that fails raises SIGBUS, which `faults` turns into an
//! I/O error.

pub(crate) mod faults;

use crate::load::{
    engine::{Engine, mmap::faults::Guarded, synchronous::discard},
    pattern::io::{Io, Kind},
};
use rustix::{
    io::Errno,
    mm::{Advice, MapFlags, MsyncFlags, ProtFlags, madvise, mmap, msync, munmap},
    param::page_size,
};
use std::{
    ffi::c_void,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    ptr,
};

/// The regions to map, and how to map them.
pub(crate) struct Setup {
    /// Offset and size of the region in each of the worker's targets, in bytes.
    pub regions: Vec<(u64, u64)>,
    pub writes: bool,
    /// Expected access pattern, which controls readahead.
    pub advice: Option<Advice>,
}

pub(crate) struct Mmap {
    targets: Vec<Mapping>,
    completed: Option<(u32, i32)>,
}

/// The mapped region of a target.
struct Mapping {
    file: RawFd,
    base: *mut c_void,
    /// Offset of the mapping in the file, rounded down to a page boundary.
    begin: u64,
    len: usize,
}

impl Mmap {
    /// Maps the regions of the worker's targets. `files`: in the order of the regions; they must
    /// stay open for the lifetime of the engine. Must be called on the thread that uses the engine.
    ///
    /// # Errors
    /// Returns errors from mmap(2), madvise(2) and sigaction(2).
    pub(crate) fn new(setup: &Setup, files: &[OwnedFd]) -> Result<Self, Errno> {
        faults::install()?;
        let targets = setup.regions.iter().zip(files);
        let targets = targets.map(|(region, file)| Mapping::new(setup, *region, file));
        Ok(Self {
            targets: targets.collect::<Result<_, _>>()?,
            completed: None,
        })
    }
}

impl Engine for Mmap {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        let mapping = &self.targets[usize::from(io.target)];
        let result = if io.kind == Kind::Read || io.kind == Kind::Write {
            // SAFETY: the caller guarantees that the buffer is valid for the length of the I/O,
            // which is within the target's region.
            unsafe { mapping.copy(io, buffer) }
        } else {
            mapping.perform_rare(io)
        };
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

impl Mapping {
    fn new(setup: &Setup, (offset, size): (u64, u64), file: &OwnedFd) -> Result<Self, Errno> {
        let page = page_size() as u64;
        let begin = offset / page * page;
        let len = (offset + size - begin) as usize;
        let mut access = ProtFlags::READ;
        access.set(ProtFlags::WRITE, setup.writes);
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let base = unsafe { mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, begin)? };
        let mapping = Self {
            file: file.as_raw_fd(),
            base,
            begin,
            len,
        };
        if let Some(advice) = setup.advice {
            // SAFETY: the range is the mapping, and the advice only controls readahead.
            unsafe { madvise(base, len, advice)? };
        }
        Ok(mapping)
    }

    /// # Safety
    /// `buffer` must be valid for `io.len` bytes, and the I/O must be within the mapping.
    #[inline(always)]
    unsafe fn copy(&self, io: &Io, buffer: *mut u8) -> i32 {
        let len = io.len as usize;
        // SAFETY: the I/O is within the mapping.
        let mapped = unsafe { self.base.byte_add((io.offset - self.begin) as usize) };
        let guarded = Guarded::new(mapped, len);
        let (to, from) = if io.kind == Kind::Read {
            (buffer.cast(), mapped)
        } else {
            (mapped, buffer.cast())
        };
        // SAFETY: both ranges are valid and do not overlap. The call is opaque to the compiler, so
        // other processes may modify the file. A failed fault is handled by `faults`.
        unsafe { libc::memcpy(to, from, len) };
        if guarded.has_failed() {
            -libc::EIO
        } else {
            io.len as i32
        }
    }

    #[cold]
    fn perform_rare(&self, io: &Io) -> i32 {
        if io.kind == Kind::Trim {
            return discard(self.file, io);
        }
        // SAFETY: the range is the mapping.
        let result = unsafe { msync(self.base, self.len, MsyncFlags::SYNC) };
        result.map_or_else(|errno| -errno.raw_os_error(), |()| 0)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing else uses the mapping.
        let _ = unsafe { munmap(self.base, self.len) };
    }
}
