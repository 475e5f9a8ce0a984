//! I/O buffers: one page-aligned mapping per worker, divided into equal slots. The mapping is
//! unmapped only if no I/O is in flight. A worker that has to abandon I/Os leaks its mapping,
//! because the kernel may still write to it.

use leadline_protocol::job::engine::BufferPages;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
use std::{io, ptr::NonNull};

#[derive(Debug)]
pub(crate) struct BufferPool {
    base: NonNull<u8>,
    length: usize,
    stride: usize,
    slots: usize,
    /// Whether every slot has a separate buffer for writes.
    has_write_buffers: bool,
}

// SAFETY: the pool owns its mapping and hands out only raw pointers. Moving the pool moves
// ownership of the mapping.
unsafe impl Send for BufferPool {}

impl BufferPool {
    /// Maps `slots` slots of at least `bytes` bytes and touches every page, so no page faults occur
    /// during the measurement.
    ///
    /// # Errors
    /// Returns ENOMEM if memory is insufficient, too few huge pages are reserved, or the size
    /// exceeds the address space.
    pub(crate) fn new(slots: usize, bytes: usize, pages: BufferPages) -> io::Result<Self> {
        Self::map(slots.max(1), bytes, pages, false)
    }

    /// Like `new`, but gives each slot a separate buffer for writes.
    pub(crate) fn new_with_write_buffers(
        slots: usize,
        bytes: usize,
        pages: BufferPages,
    ) -> io::Result<Self> {
        Self::map(slots.max(1), bytes, pages, true)
    }

    fn map(
        slots: usize,
        bytes: usize,
        pages: BufferPages,
        has_write_buffers: bool,
    ) -> io::Result<Self> {
        let buffers = slots.checked_mul(if has_write_buffers { 2 } else { 1 });
        let (stride, length) = buffers
            .and_then(|buffers| layout(buffers, bytes, pages))
            .ok_or(rustix::io::Errno::NOMEM)?;
        let mut flags = MapFlags::PRIVATE;
        flags.set(MapFlags::HUGETLB, pages == BufferPages::Mmaphuge);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new private mapping at an address chosen by the kernel does not affect existing
        // memory.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), length, protection, flags)? };
        let pool = Self {
            base: NonNull::new(base.cast()).expect("mmap does not return null"),
            length,
            stride,
            slots,
            has_write_buffers,
        };
        pool.touch(pages)?;
        Ok(pool)
    }

    /// Applies the page size setting, and writes to every page.
    fn touch(&self, pages: BufferPages) -> io::Result<()> {
        let advice = match pages {
            // Disables transparent huge pages, which the host may enable by default and which would
            // change the results.
            BufferPages::Mmap => Some(Advice::LinuxNoHugepage),
            BufferPages::Thp => Some(Advice::LinuxHugepage),
            BufferPages::Mmaphuge => None,
        };
        let base = self.base.as_ptr();
        if let Some(advice) = advice {
            // SAFETY: the advice affects only this mapping, and does not change its contents.
            let advised = unsafe { madvise(base.cast(), self.length, advice) };
            // EINVAL means that the kernel does not support huge pages, so all pages are base
            // pages.
            if pages != BufferPages::Mmap {
                advised?;
            }
        }
        for offset in (0..self.length).step_by(BufferPages::SMALL as usize) {
            // SAFETY: the offset is within the mapping, and no other pointers into it exist yet.
            unsafe { base.add(offset).write_volatile(0) };
        }
        Ok(())
    }

    /// Keeps the mapping in memory until it is released.
    ///
    /// # Errors
    /// Returns ENOMEM or EPERM if the limit on locked memory is exceeded.
    pub(crate) fn lock(&self) -> io::Result<()> {
        // SAFETY: locking does not change the contents of the mapping.
        unsafe { mlock(self.base.as_ptr().cast(), self.length)? };
        Ok(())
    }

    /// Start and length of the mapping.
    pub(crate) fn region(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.length)
    }

    /// Start address of a slot. `slot` must be less than `slots()`.
    #[inline]
    pub(crate) fn slot(&self, slot: u32) -> *mut u8 {
        debug_assert!((slot as usize) < self.slots);
        // SAFETY: slot numbers are less than `slots`, so the sum stays within the mapping.
        unsafe { self.base.as_ptr().add(slot as usize * self.stride) }
    }

    /// Offset from a slot to its write buffer, in bytes.
    pub(crate) fn write_offset(&self) -> usize {
        if self.has_write_buffers {
            self.slots * self.stride
        } else {
            0
        }
    }

    /// A slot's write buffer, to be filled while no I/O is in flight.
    pub(crate) fn write_buffer_mut(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: the buffer is within the mapping, which is initialized (zero pages) and borrowed
        // mutably with self.
        unsafe {
            let start = self.slot(slot).add(self.write_offset());
            std::slice::from_raw_parts_mut(start, self.stride)
        }
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }
}

/// Size of a slot and of the whole mapping, in bytes; `None` if the size exceeds the address space.
fn layout(slots: usize, bytes: usize, pages: BufferPages) -> Option<(usize, usize)> {
    let stride = BufferPages::stride(bytes as u64)?;
    let length = pages.mapping_bytes(slots as u64, bytes as u64)?;
    Some((stride.try_into().ok()?, length.try_into().ok()?))
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        // SAFETY: `new` created the mapping with this length, and no pointers into it remain,
        // because the I/O loop leaks the pool if I/O is still in flight.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_pools_fail_with_enomem() {
        for (slots, bytes) in [
            (usize::MAX / 4096, 8192),
            (2, usize::MAX),
            (2, usize::MAX / 2),
        ] {
            let error = BufferPool::new(slots, bytes, BufferPages::Mmap).unwrap_err();
            assert_eq!(
                error.raw_os_error(),
                Some(libc::ENOMEM),
                "{slots} × {bytes}"
            );
        }
    }
}
