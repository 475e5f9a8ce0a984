//! What the filesystem says of the blocks of a region: FS_IOC_FIEMAP (Documentation/filesystems/fiemap.rst). Never asked
//! inside the measured window, since the answer may need metadata from the device.
//!
//! On ext4 a file of one extent takes 3 µs, one of 10,000 extents 6 ms.

use crate::system::host::file::each_extent;
use crate::system::host::ioctl::{Extent, extent};
use crate::system::probes::region::Region;
use leadline_protocol::evidence::Extents;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;

/// The extents of a region before the measurement. Dirty pages hide behind extents that were allocated and never written: where
/// there are such, they are written first and the filesystem is asked again.
///
/// # Errors
/// Why it does not tell.
pub fn before(file: BorrowedFd, region: &Region) -> Result<Extents, String> {
    let found = extents(file, region, false);
    let found = if found.is_ok_and(|found| found.unwritten > 0) {
        extents(file, region, true)
    } else {
        found
    };
    found.map_err(reason)
}

/// The extents of a region as they are, with what lies in memory only.
///
/// # Errors
/// Why the filesystem does not tell.
pub fn after(file: BorrowedFd, region: &Region) -> Result<Extents, String> {
    extents(file, region, false).map_err(reason)
}

/// Share of a region that holds data, from 0 to 1.
pub fn written_share(found: &Extents, region_bytes: u64) -> f64 {
    let data = found.written + found.delayed + found.inline + found.encoded;
    if region_bytes == 0 {
        0.0
    } else {
        data as f64 / region_bytes as f64
    }
}

fn reason(error: Errno) -> String {
    match error {
        Errno::OPNOTSUPP | Errno::NOTTY => "the filesystem tells no extents (FIEMAP)".into(),
        Errno::OVERFLOW => "the file has more than a million extents".into(),
        error => format!("FIEMAP: {}", io::Error::from(error)),
    }
}

fn extents(file: BorrowedFd, region: &Region, sync: bool) -> Result<Extents, Errno> {
    let mut sum = Extents::default();
    each_extent(file, region.offset(), sync, |extent| {
        add(&mut sum, extent, region);
        extent.logical < region.end()
    })?;
    let covered = sum.written + sum.unwritten + sum.delayed + sum.inline + sum.encoded;
    Ok(Extents {
        hole: region.bytes().saturating_sub(covered),
        ..sum
    })
}

fn add(sum: &mut Extents, found: &Extent, region: &Region) {
    let bytes = region.overlap(&(found.logical..found.logical.saturating_add(found.length)));
    let is = |flags: u32| found.flags & flags != 0;
    let kind = if is(extent::UNWRITTEN) {
        &mut sum.unwritten
    } else if is(extent::DELALLOC) {
        &mut sum.delayed
    } else if is(extent::DATA_INLINE) {
        &mut sum.inline
    } else if is(extent::ENCODED | extent::DATA_ENCRYPTED) {
        &mut sum.encoded
    } else {
        &mut sum.written
    };
    *kind += bytes;
    sum.shared += if is(extent::SHARED) { bytes } else { 0 };
    sum.count += u64::from(bytes > 0);
}
