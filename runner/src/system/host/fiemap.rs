//! Extents of a file: FS_IOC_FIEMAP (linux/fiemap.h).

use rustix::{
    io::{Errno, Result},
    ioctl::{Opcode, Updater, ioctl},
};
use std::os::fd::AsFd;

const FS_IOC_FIEMAP: Opcode = 0xC020_660B;
/// Write dirty pages before mapping.
const FIEMAP_FLAG_SYNC: u32 = 0x1;
/// The result takes 14 KiB.
const EXTENTS_PER_CALL: usize = 256;
/// A million extents, about 0.1 s.
const MAX_CALLS: u32 = 4096;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Extent {
    /// Offset in the file in bytes.
    pub logical: u64,
    physical: u64,
    /// In bytes.
    pub length: u64,
    reserved: [u64; 2],
    /// FIEMAP_EXTENT_ flags.
    pub flags: u32,
    reserved32: [u32; 3],
}

const LAST: u32 = 0x1;
/// Delayed allocation: in memory only.
pub(crate) const DELALLOC: u32 = 0x4;
/// Compressed or encrypted.
pub(crate) const ENCODED: u32 = 0x8;
/// Encrypted by the filesystem.
pub(crate) const DATA_ENCRYPTED: u32 = 0x80;
/// Stored in metadata.
pub(crate) const DATA_INLINE: u32 = 0x200;
/// Allocated, never written.
pub(crate) const UNWRITTEN: u32 = 0x800;
/// Shared with another file (reflink).
pub(crate) const SHARED: u32 = 0x2000;

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_PER_CALL],
}

/// Calls `visit` for the extents of a file starting at byte `start`, in order, until it returns
/// false. `sync` writes dirty pages first.
///
/// # Errors
/// EOPNOTSUPP if the filesystem has no FIEMAP, EOVERFLOW for more than a million extents.
pub(crate) fn each_extent(
    file: impl AsFd,
    mut start: u64,
    sync: bool,
    mut visit: impl FnMut(&Extent) -> bool,
) -> Result<()> {
    for _ in 0..MAX_CALLS {
        let mut map = Fiemap {
            start,
            length: u64::MAX - start,
            flags: if sync { FIEMAP_FLAG_SYNC } else { 0 },
            mapped_extents: 0,
            extent_count: EXTENTS_PER_CALL as u32,
            reserved: 0,
            extents: [Extent::default(); EXTENTS_PER_CALL],
        };
        // SAFETY: FS_IOC_FIEMAP reads and writes struct fiemap followed by `extent_count` extents,
        // as in Fiemap.
        unsafe { ioctl(&file, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map)) }?;
        let found = map.extents.iter().take(map.mapped_extents as usize);
        for extent in found {
            if !visit(extent) || extent.flags & LAST != 0 {
                return Ok(());
            }
            start = extent.logical + extent.length;
        }
        if start == map.start {
            return Ok(());
        }
    }
    Err(Errno::OVERFLOW)
}
