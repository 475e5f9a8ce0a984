//! The memory that I/O moves data to and from: one page-aligned mapping per clone, cut into equal slots. It is given
//! back only when no I/O is in flight; a clone that must leave I/Os behind leaks it instead, because the kernel still
//! writes there.

use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Alignment of every slot in bytes: a page, which is enough for the direct I/O of every device there is.
pub const SLOT_ALIGNMENT: usize = 4096;

/// Equal slots of page-aligned memory.
#[derive(Debug)]
pub struct Pool {
    base: NonNull<u8>,
    stride: usize,
    slots: usize,
}

// SAFETY: the pool owns its mapping and hands out raw pointers only; whoever moves it moves the mapping with it.
unsafe impl Send for Pool {}

impl Pool {
    /// Maps `slots` slots of at least `bytes` bytes and touches every page, so that no page fault falls into a measurement.
    ///
    /// # Errors
    /// What mmap(2) says, such as ENOMEM.
    pub fn new(slots: usize, bytes: usize) -> io::Result<Self> {
        let stride = bytes.max(1).next_multiple_of(SLOT_ALIGNMENT);
        let length = slots.max(1) * stride;
        // SAFETY: a new private mapping at an address of the kernel's choice touches no memory that exists.
        let base = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )?
        };
        let base = NonNull::new(base.cast()).expect("mmap does not return null");
        Ok(Self { base, stride, slots: slots.max(1) })
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

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and nobody holds a pointer into it: the loop leaks the
        // pool when I/O is still in flight.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.slots * self.stride) };
    }
}
