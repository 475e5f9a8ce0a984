//! What a file or its directory can tell before it is used: what direct I/O needs there, whether every block was
//! written, how much room is left. Dry: nothing that can be seen afterwards is changed.

use crate::plan::host_view::DirectAlignment;
use crate::system::host::ioctl::{Extent, extent, extents};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, SeekFrom, StatxFlags, open, seek, statvfs, statx};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// What direct I/O needs where nothing tells: the smallest sector there is, in bytes.
const SMALLEST_SECTOR_BYTES: u32 = 512;
/// The most FIEMAP calls for one file: a million extents, some 0.1 s. More is not told.
const MAX_EXTENT_CALLS: u32 = 4096;

/// Number of the mount that a path lies on (STATX_MNT_ID, Linux 5.8).
pub fn mount_id(path: &Path) -> Option<u64> {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    StatxFlags::from_bits_retain(found.stx_mask)
        .contains(StatxFlags::MNT_ID)
        .then_some(found.stx_mnt_id)
}

/// Bytes free for an ordinary user on the filesystem of a path; 0 when that cannot be told.
pub fn free_bytes(path: &Path) -> u64 {
    statvfs(path).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// What direct I/O on an existing file or device needs. `block_bytes`: logical block of the device under it, which
/// counts where the kernel does not tell (before Linux 6.1, network filesystems).
///
/// # Errors
/// Why direct I/O is not possible there.
pub fn alignment_of(path: &Path, block_bytes: Option<u32>) -> Result<DirectAlignment, String> {
    let direct = open(
        path,
        OFlags::RDONLY | OFlags::DIRECT | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    );
    alignment(
        direct,
        || open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok(),
        block_bytes,
    )
}

/// What direct I/O on a file to be made in a directory needs: asked of a file without a name (O_TMPFILE), which is
/// gone with its descriptor.
///
/// # Errors
/// Why direct I/O is not possible there.
pub fn alignment_in(directory: &Path, block_bytes: Option<u32>) -> Result<DirectAlignment, String> {
    let nameless = |flags| {
        open(
            directory,
            OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC | flags,
            Mode::RUSR | Mode::WUSR,
        )
    };
    alignment(
        nameless(OFlags::DIRECT),
        || nameless(OFlags::empty()).ok(),
        block_bytes,
    )
}

fn alignment(
    direct: Result<OwnedFd, Errno>,
    plain: impl FnOnce() -> Option<OwnedFd>,
    block_bytes: Option<u32>,
) -> Result<DirectAlignment, String> {
    if direct.as_ref().is_err_and(|&error| error == Errno::INVAL) {
        return Err("the filesystem does not take O_DIRECT".into());
    }
    let fallback = block_bytes.unwrap_or(SMALLEST_SECTOR_BYTES);
    let told = direct
        .ok()
        .or_else(plain)
        .and_then(|fd| statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok());
    match told
        .filter(|told| StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::DIOALIGN))
    {
        Some(told) if told.stx_dio_offset_align == 0 => {
            Err("the kernel says that direct I/O is not possible on this file (statx)".into())
        }
        Some(told) => Ok(DirectAlignment {
            memory: told.stx_dio_mem_align,
            offset: told.stx_dio_offset_align,
        }),
        None => Ok(DirectAlignment {
            memory: fallback,
            offset: fallback,
        }),
    }
}

/// Whether every block of a file holds written data; `None` when that cannot be told.
///
/// SEEK_HOLE finds holes, but takes unwritten extents for data once they were read into the page cache; FIEMAP knows
/// those, but takes data for unwritten as long as it is dirty. So both are asked, the second one again after a sync.
pub fn is_fully_written(path: &Path) -> Option<bool> {
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    if length == 0 {
        return Some(true);
    }
    if seek(&file, SeekFrom::Hole(0)).ok()? < length {
        return Some(false);
    }
    match has_unwritten(&file, false) {
        Ok(false) | Err(Errno::OPNOTSUPP | Errno::NOTTY) => Some(true),
        Ok(true) => has_unwritten(&file, true).ok().map(|unwritten| !unwritten),
        Err(_) => None,
    }
}

fn has_unwritten(file: impl AsFd, sync: bool) -> Result<bool, Errno> {
    let mut unwritten = false;
    each_extent(file, 0, sync, |extent| {
        unwritten |= extent.flags & extent::UNWRITTEN != 0;
        !unwritten
    })?;
    Ok(unwritten)
}

/// Shows the extents of a file from byte `start` on, in order, as long as `wanted` says so. `sync` writes its dirty pages
/// first.
///
/// # Errors
/// EOPNOTSUPP where the filesystem does not tell, EOVERFLOW where there are more than a million.
pub fn each_extent(
    file: impl AsFd,
    mut start: u64,
    sync: bool,
    mut wanted: impl FnMut(&Extent) -> bool,
) -> Result<(), Errno> {
    for _ in 0..MAX_EXTENT_CALLS {
        let some = extents(file.as_fd(), start, sync)?;
        match some.next {
            _ if !some.found.iter().all(&mut wanted) => return Ok(()),
            Some(next) if next > start => start = next,
            _ => return Ok(()),
        }
    }
    Err(Errno::OVERFLOW)
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
    fn holes_are_not_written() {
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
    fn unwritten_extents_are_not_written_even_when_cached() {
        with_file(|path, file| {
            if fallocate(&*file, FallocateFlags::empty(), 0, MIB).is_err() {
                return skip("the filesystem of the temporary directory has no fallocate");
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
    fn data_over_unwritten_extents_is_written_while_still_dirty() {
        with_file(|path, file| {
            if fallocate(&*file, FallocateFlags::empty(), 0, MIB).is_err() {
                return skip("the filesystem of the temporary directory has no fallocate");
            }
            file.write_all(&vec![7; MIB as usize]).unwrap();
            assert_eq!(is_fully_written(path), Some(true));
        });
    }

    #[test]
    fn a_new_file_needs_what_an_old_one_there_does() {
        with_file(|path, _| {
            assert_eq!(
                alignment_in(path.parent().unwrap(), None),
                alignment_of(path, None)
            );
            assert!(free_bytes(path) > 0);
            assert!(mount_id(path).is_some());
        });
        assert!(
            alignment_of(Path::new("/proc/self/status"), None).is_err(),
            "procfs has no direct I/O"
        );
    }
}
