//! Keeps pages of a file in the page cache. This is necessary because some hosts, for example with
//! DAMON, evict pages that have been idle for seconds even if memory is free.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap, munmap};
use std::{ffi::c_void, fs::File, ptr::null_mut};

/// Unlocks the pages on drop.
pub(crate) struct LockedPages {
    address: *mut c_void,
    bytes: usize,
}

impl LockedPages {
    /// Reads the first `bytes` of the file, without readahead, and locks them.
    pub(crate) fn of(file: &File, bytes: u64) -> Self {
        Self::range(file, 0, bytes)
    }

    /// Like `of`, but starts at an offset, which must be a multiple of the page size.
    pub(crate) fn range(file: &File, offset: u64, bytes: u64) -> Self {
        Self::mapped(file, offset, bytes, ProtFlags::READ, MapFlags::SHARED)
    }

    /// Like `of`, but maps the pages writable. Nothing writes to them.
    pub(crate) fn writable(file: &File, bytes: u64) -> Self {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        Self::mapped(file, 0, bytes, access, MapFlags::SHARED)
    }

    /// Private pages of this process, which are never written to the file.
    pub(crate) fn private(file: &File, bytes: u64) -> Self {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        Self::mapped(file, 0, bytes, access, MapFlags::PRIVATE)
    }

    fn mapped(file: &File, offset: u64, bytes: u64, access: ProtFlags, kind: MapFlags) -> Self {
        let bytes = usize::try_from(bytes).unwrap();
        // SAFETY: a new mapping at an address that the kernel chooses.
        let mapped = unsafe { mmap(null_mut(), bytes, access, kind, file, offset) };
        let address = mapped.unwrap();
        // SAFETY: the range is the mapping above, and its content is never accessed here.
        unsafe { madvise(address, bytes, Advice::Random) }.unwrap();
        // SAFETY: as above.
        unsafe { mlock(address, bytes) }.unwrap();
        Self { address, bytes }
    }
}

impl Drop for LockedPages {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the mapping.
        unsafe { munmap(self.address, self.bytes) }.unwrap();
    }
}
