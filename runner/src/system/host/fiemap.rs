//! Extents of a file: FS_IOC_FIEMAP (linux/fiemap.h).

use rustix::{
    io::{Errno, Result},
    ioctl::{Opcode, Updater, ioctl},
};
use std::{ops::Range, os::fd::AsFd};

const FS_IOC_FIEMAP: Opcode = 0xC020_660B;
/// Write dirty pages before reporting extents.
const FIEMAP_FLAG_SYNC: u32 = 0x1;
/// Extents per call when a whole region is read; the result takes 14 KiB.
const EXTENTS_PER_CALL: usize = 256;
/// Extents per call when the range of one I/O is read.
const EXTENTS_PER_RANGE: usize = 8;
/// Maximum number of calls per region: a million extents, which take about 0.1 s.
const MAX_CALLS: u32 = 4096;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Extent {
    /// Offset in the file, in bytes.
    pub logical: u64,
    /// Offset on the filesystem's device, in bytes; meaningless for inline and delayed allocation
    /// extents.
    pub physical: u64,
    /// Length in bytes.
    pub length: u64,
    reserved: [u64; 2],
    /// FIEMAP_EXTENT_ flags.
    pub flags: u32,
    reserved32: [u32; 3],
}

const LAST: u32 = 0x1;
/// Delayed allocation: the data is only in memory.
pub(crate) const DELALLOC: u32 = 0x4;
/// Compressed or encrypted.
pub(crate) const ENCODED: u32 = 0x8;
/// Encrypted by the filesystem.
pub(crate) const DATA_ENCRYPTED: u32 = 0x80;
/// Stored in metadata.
pub(crate) const DATA_INLINE: u32 = 0x200;
/// Allocated but never written.
pub(crate) const UNWRITTEN: u32 = 0x800;
/// Shared with another file (reflink).
pub(crate) const SHARED: u32 = 0x2000;

#[repr(C)]
struct Fiemap<const N: usize> {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; N],
}

/// Calls `visit` for each extent of a file at or after byte `start`, in order, until `visit`
/// returns false. If `sync` is set, dirty pages are written first.
///
/// # Errors
/// EOPNOTSUPP if the filesystem does not support FIEMAP, EOVERFLOW for more than a million extents.
pub(crate) fn for_each_extent(
    file: impl AsFd,
    start: u64,
    sync: bool,
    visit: impl FnMut(&Extent) -> bool,
) -> Result<()> {
    each::<EXTENTS_PER_CALL>(file, start..u64::MAX, sync, visit)
}

/// Calls `visit` for each extent that overlaps a byte range of a file, in order.
///
/// # Errors
/// Same as [`for_each_extent`].
pub(crate) fn for_each_extent_in(
    file: impl AsFd,
    range: Range<u64>,
    mut visit: impl FnMut(&Extent),
) -> Result<()> {
    let end = range.end;
    each::<EXTENTS_PER_RANGE>(file, range, false, |extent| {
        visit(extent);
        extent.logical + extent.length < end
    })
}

fn each<const N: usize>(
    file: impl AsFd,
    mut range: Range<u64>,
    sync: bool,
    mut visit: impl FnMut(&Extent) -> bool,
) -> Result<()> {
    for _ in 0..MAX_CALLS {
        let mut map = Fiemap {
            start: range.start,
            length: range.end - range.start,
            flags: if sync { FIEMAP_FLAG_SYNC } else { 0 },
            mapped_extents: 0,
            extent_count: N as u32,
            reserved: 0,
            extents: [Extent::default(); N],
        };
        // SAFETY: FS_IOC_FIEMAP reads and writes struct fiemap followed by `extent_count` extents,
        // which is the layout of Fiemap.
        unsafe { ioctl(&file, Updater::<FS_IOC_FIEMAP, Fiemap<N>>::new(&mut map)) }?;
        let found = map.extents.iter().take(map.mapped_extents as usize);
        for extent in found {
            if !visit(extent) || extent.flags & LAST != 0 {
                return Ok(());
            }
            range.start = extent.logical + extent.length;
        }
        if range.start == map.start || range.start >= range.end {
            return Ok(());
        }
    }
    Err(Errno::OVERFLOW)
}
