//! Determines properties of a file or directory before it is used: direct I/O alignment, unwritten
//! blocks and free space. Has no visible side effects.

use crate::{
    plan::host_view::DirectAlignment,
    system::host::fiemap::{UNWRITTEN, for_each_extent},
};
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, SeekFrom, Statx, StatxFlags, open, seek, statvfs, statx},
    io::Errno,
};
use std::{fs::File, os::fd::AsFd, path::Path};

/// Direct I/O alignment in bytes if the kernel does not report it: the smallest sector size.
const DEFAULT_ALIGNMENT: u32 = 512;

/// STATX_MNT_ID (Linux 5.8).
pub(crate) fn mount_id(path: &Path) -> Option<u64> {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    has(&found, StatxFlags::MNT_ID).then_some(found.stx_mnt_id)
}

/// Direct I/O alignment of an open file; `None` before Linux 6.1 and on most network filesystems.
pub(crate) fn statx_direct_io(file: impl AsFd) -> Option<Statx> {
    let found = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    has(&found, StatxFlags::DIOALIGN).then_some(found)
}

fn has(found: &Statx, field: StatxFlags) -> bool {
    StatxFlags::from_bits_retain(found.stx_mask).contains(field)
}

/// Bytes that an unprivileged user may allocate; 0 if unknown.
pub(crate) fn free_bytes(path: &Path) -> u64 {
    statvfs(path).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// Direct I/O alignment of an existing file or device. `block_bytes`: logical block size of the
/// underlying device, which is used if the kernel does not report an alignment.
///
/// # Errors
/// Returns why direct I/O is not possible.
pub(crate) fn file_alignment(
    path: &Path,
    block_bytes: Option<u32>,
) -> Result<DirectAlignment, String> {
    let direct = OFlags::RDONLY | OFlags::DIRECT | OFlags::NONBLOCK;
    alignment(path, direct, OFlags::PATH, block_bytes)
}

/// Direct I/O alignment of new files in a directory, determined with an unnamed temporary file. If
/// there is no directory, direct I/O is assumed to be possible.
///
/// # Errors
/// Returns why direct I/O is not possible.
pub(crate) fn new_file_alignment(
    directory: Option<&Path>,
    block_bytes: Option<u32>,
) -> Result<DirectAlignment, String> {
    let Some(directory) = directory else {
        return Ok(default_alignment(block_bytes));
    };
    let plain = OFlags::TMPFILE | OFlags::WRONLY;
    alignment(directory, plain | OFlags::DIRECT, plain, block_bytes)
}

fn default_alignment(block_bytes: Option<u32>) -> DirectAlignment {
    let bytes = block_bytes.unwrap_or(DEFAULT_ALIGNMENT);
    DirectAlignment {
        memory: bytes,
        offset: bytes,
    }
}

/// `direct`, `plain`: open flags with and without O_DIRECT.
fn alignment(
    path: &Path,
    direct: OFlags,
    plain: OFlags,
    block_bytes: Option<u32>,
) -> Result<DirectAlignment, String> {
    let open = |flags| open(path, flags | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    let fd = match open(direct) {
        Err(Errno::INVAL) => return Err("the filesystem does not support O_DIRECT".into()),
        direct => direct.or_else(|_| open(plain)).ok(),
    };
    match fd.and_then(statx_direct_io) {
        Some(found) if found.stx_dio_offset_align == 0 => {
            Err("the kernel reports that this file does not support direct I/O (statx)".into())
        }
        Some(found) => Ok(DirectAlignment {
            memory: found.stx_dio_mem_align,
            offset: found.stx_dio_offset_align,
        }),
        None => Ok(default_alignment(block_bytes)),
    }
}

/// Whether every block of a file contains written data; `None` if unknown.
///
/// SEEK_HOLE finds holes, but reports unwritten extents as data once they are in the page cache.
/// FIEMAP identifies unwritten extents, but reports dirty data as unwritten. Therefore both are
/// used, and FIEMAP is called again after a sync.
pub(crate) fn is_fully_written(path: &Path) -> Option<bool> {
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    if length == 0 {
        return Some(true);
    }
    if seek(&file, SeekFrom::Hole(0)).ok()? < length {
        return Some(false);
    }
    match has_unwritten_extents(&file, false) {
        Ok(false) | Err(Errno::OPNOTSUPP | Errno::NOTTY) => Some(true),
        Ok(true) => has_unwritten_extents(&file, true)
            .ok()
            .map(|unwritten| !unwritten),
        Err(_) => None,
    }
}

fn has_unwritten_extents(file: impl AsFd, sync: bool) -> Result<bool, Errno> {
    let mut unwritten = false;
    for_each_extent(file, 0, sync, |extent| {
        unwritten |= extent.flags & UNWRITTEN != 0;
        !unwritten
    })?;
    Ok(unwritten)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::skip;
    use rustix::fs::{FallocateFlags, fallocate, ftruncate};
    use std::io::{Read, Write};

    const MIB: u64 = 1 << 20;

    fn with_file(check: impl Fn(&Path, &mut File)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        check(file.path(), &mut file.reopen().unwrap());
    }

    #[test]
    fn sparse_file_is_not_fully_written() {
        with_file(|path, file| {
            assert_eq!(is_fully_written(path), Some(true), "empty");
            ftruncate(&*file, MIB).unwrap();
            assert_eq!(is_fully_written(path), Some(false), "hole");
            file.write_all(&vec![7; MIB as usize]).unwrap();
            assert_eq!(is_fully_written(path), Some(true), "dirty");
            file.sync_all().unwrap();
            assert_eq!(is_fully_written(path), Some(true), "clean");
        });
    }

    #[test]
    fn unwritten_extents_stay_unwritten_when_cached() {
        with_file(|path, file| {
            if fallocate(&*file, FallocateFlags::empty(), 0, MIB).is_err() {
                return skip("the temporary directory's filesystem does not support fallocate");
            }
            assert_eq!(is_fully_written(path), Some(false));
            file.read_exact(&mut vec![0; MIB as usize]).unwrap();
            assert_eq!(
                is_fully_written(path),
                Some(false),
                "read into the page cache"
            );
            file.sync_all().unwrap();
        });
    }

    #[test]
    fn dirty_data_over_unwritten_extents_counts_as_written() {
        with_file(|path, file| {
            if fallocate(&*file, FallocateFlags::empty(), 0, MIB).is_err() {
                return skip("the temporary directory's filesystem does not support fallocate");
            }
            file.write_all(&vec![7; MIB as usize]).unwrap();
            assert_eq!(is_fully_written(path), Some(true));
        });
    }

    #[test]
    fn new_and_existing_files_have_the_same_alignment() {
        with_file(|path, _| {
            assert_eq!(
                new_file_alignment(path.parent(), None),
                file_alignment(path, None)
            );
            assert!(free_bytes(path) > 0);
            assert!(mount_id(path).is_some());
        });
        assert!(
            file_alignment(Path::new("/proc/self/status"), None).is_err(),
            "procfs"
        );
    }
}
