//! The memory that I/O moves data to and from: one page-aligned mapping per clone, cut into equal slots. It is given
//! back only when no I/O is in flight; a clone that must leave I/Os behind leaks it instead, because the kernel still
//! writes there.

use leadline_protocol::job::engine::BufferPages;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::io;
use std::ptr::NonNull;

/// Equal slots of page-aligned memory.
#[derive(Debug)]
pub struct BufferPool {
    base: NonNull<u8>,
    length: usize,
    stride: usize,
    slots: usize,
}

// SAFETY: the pool owns its mapping and hands out raw pointers only; whoever moves it moves the mapping with it.
unsafe impl Send for BufferPool {}

impl BufferPool {
    /// Maps `slots` slots of at least `bytes` bytes in such pages and touches them all, so that no page fault falls into a
    /// measurement.
    ///
    /// # Errors
    /// What mmap(2) and madvise(2) say, such as ENOMEM, also where no huge pages are reserved; ENOMEM for more than can be
    /// addressed.
    pub fn new(slots: usize, bytes: usize, pages: BufferPages) -> io::Result<Self> {
        let slots = slots.max(1);
        let (stride, length) = layout(slots, bytes, pages).ok_or(rustix::io::Errno::NOMEM)?;
        let flags = if pages == BufferPages::Mmaphuge {
            MapFlags::PRIVATE | MapFlags::HUGETLB
        } else {
            MapFlags::PRIVATE
        };
        // SAFETY: a new private mapping at an address of the kernel's choice touches no memory that exists.
        let base = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )?
        };
        let base = NonNull::new(base.cast::<u8>()).expect("mmap does not return null");
        let pool = Self {
            base,
            length,
            stride,
            slots,
        };
        pool.touch(pages)?;
        Ok(pool)
    }

    /// Says which pages are wanted, and writes into each.
    fn touch(&self, pages: BufferPages) -> io::Result<()> {
        let advice = match pages {
            // Small ones also where the host gives huge ones unasked: they change the number.
            BufferPages::Mmap => Some(Advice::LinuxNoHugepage),
            BufferPages::Thp => Some(Advice::LinuxHugepage),
            BufferPages::Mmaphuge => None,
        };
        let base = self.base.as_ptr();
        if let Some(advice) = advice {
            // SAFETY: the advice concerns this mapping only and changes no content.
            let advised = unsafe { madvise(base.cast(), self.length, advice) };
            // A kernel without huge pages (EINVAL) has small ones anyway.
            advised.or_else(|error| {
                if pages == BufferPages::Mmap {
                    Ok(())
                } else {
                    Err(error)
                }
            })?;
        }
        for offset in (0..self.length).step_by(BufferPages::SMALL as usize) {
            // SAFETY: the offset lies inside the mapping, which nobody else knows yet.
            unsafe { base.add(offset).write_volatile(0) };
        }
        Ok(())
    }

    /// Where the mapping begins, and its bytes.
    pub fn region(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.length)
    }

    /// Where a slot begins. The slot must exist.
    #[inline]
    pub fn slot(&self, slot: u32) -> *mut u8 {
        debug_assert!((slot as usize) < self.slots);
        // SAFETY: slots are numbered below `slots`, so the sum stays inside the mapping.
        unsafe { self.base.as_ptr().add(slot as usize * self.stride) }
    }

    /// A slot's bytes, to fill them while no I/O is in flight.
    pub fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        let start = self.slot(slot);
        // SAFETY: the slot lies inside the mapping, which is initialised (zero pages) and borrowed mutably with self.
        unsafe { std::slice::from_raw_parts_mut(start, self.stride) }
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.slots
    }
}

/// Bytes from slot to slot, and of the whole mapping; `None` beyond the address space.
fn layout(slots: usize, bytes: usize, pages: BufferPages) -> Option<(usize, usize)> {
    let (stride, length) = (
        BufferPages::stride(bytes as u64)?,
        pages.mapped(slots as u64, bytes as u64)?,
    );
    Some((stride.try_into().ok()?, length.try_into().ok()?))
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and nobody holds a pointer into it: the loop leaks the
        // pool when I/O is still in flight.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_addressed_is_no_memory() {
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
