//! Extents of a region by kind, from FS_IOC_FIEMAP (Documentation/filesystems/fiemap.rst). Never
//! called during the measured window, because it may read metadata from the device. On ext4, one
//! extent takes 3 µs and 10,000 extents take 6 ms.

use crate::system::{
    host::fiemap::{self, Extent, for_each_extent},
    probes::region::Region,
};
use leadline_protocol::evidence::target::Extents;
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// Extents before the measurement. FIEMAP reports dirty data in unwritten extents as unwritten, so
/// if there are unwritten extents, the file is synced and FIEMAP is called again.
///
/// # Errors
/// Returns why extents are not available.
pub fn before(file: BorrowedFd, region: &Region) -> Result<Extents, String> {
    let found = after(file, region)?;
    if found.unwritten == 0 {
        return Ok(found);
    }
    extents(file, region, true).map_err(reason)
}

/// Extents after the measurement. The file is not synced, so delayed allocations stay visible.
///
/// # Errors
/// Returns why extents are not available.
pub fn after(file: BorrowedFd, region: &Region) -> Result<Extents, String> {
    extents(file, region, false).map_err(reason)
}

/// Fraction of a region that contains data, from 0 to 1.
pub fn written_share(found: &Extents, region_bytes: u64) -> f64 {
    let data = found.written + found.delayed + found.inline + found.encoded;
    data as f64 / region_bytes.max(1) as f64
}

fn reason(error: Errno) -> String {
    match error {
        Errno::OPNOTSUPP | Errno::NOTTY => "the filesystem does not report extents (FIEMAP)".into(),
        Errno::OVERFLOW => "the file has more than a million extents".into(),
        error => format!("FIEMAP: {error}"),
    }
}

fn extents(file: BorrowedFd, region: &Region, sync: bool) -> Result<Extents, Errno> {
    let mut sum = Extents::default();
    for_each_extent(file, region.offset(), sync, |extent| {
        add(&mut sum, extent, region);
        extent.logical < region.end()
    })?;
    let mapped = sum.written + sum.unwritten + sum.delayed + sum.inline + sum.encoded;
    sum.hole = region.bytes().saturating_sub(mapped);
    Ok(sum)
}

fn add(sum: &mut Extents, found: &Extent, region: &Region) {
    let bytes = region.overlap(&(found.logical..found.logical.saturating_add(found.length)));
    let is = |flags: u32| found.flags & flags != 0;
    let kind = if is(fiemap::UNWRITTEN) {
        &mut sum.unwritten
    } else if is(fiemap::DELALLOC) {
        &mut sum.delayed
    } else if is(fiemap::DATA_INLINE) {
        &mut sum.inline
    } else if is(fiemap::ENCODED | fiemap::DATA_ENCRYPTED) {
        &mut sum.encoded
    } else {
        &mut sum.written
    };
    *kind += bytes;
    sum.shared += if is(fiemap::SHARED) { bytes } else { 0 };
    sum.count += u64::from(bytes > 0);
}
