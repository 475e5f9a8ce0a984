//! Page cache operations on an open target: drop, fill, advise and write back.

use crate::system::{
    host::{access_time::open_noatime, ioctl::flush_block_device},
    target::{CHUNK_BYTES, Finish, OpenTarget, progress::Progress},
};
use leadline_protocol::{
    job::keyword::Fadvise,
    phase::{Phase, PhaseChange},
    plan::target::TargetKind,
    problem::Problem,
};
use rustix::{
    fs::{Advice, Mode, OFlags, fadvise, fsync, open, sync},
    io::{Errno, pread, retry_on_intr},
};
use std::{
    fs,
    num::NonZeroU64,
    ops::Range,
    os::fd::AsRawFd,
    sync::atomic::{AtomicBool, Ordering},
};

/// Drops the clean pages of a byte range (for a device, all pages). As in fio, a file's dirty pages
/// stay. A device's dirty pages are written first if CAP_SYS_ADMIN permits it.
pub fn invalidate(opened: &OpenTarget, range: Range<u64>) -> Result<(), Errno> {
    match opened.target.kind {
        TargetKind::Null => Ok(()),
        TargetKind::File => advise_range(opened, range, Advice::DontNeed),
        TargetKind::Device | TargetKind::Loop => match flush_block_device(&opened.fd) {
            Err(Errno::ACCESS | Errno::PERM) => advise_range(opened, range, Advice::DontNeed),
            result => result,
        },
    }
}

/// Writes all dirty pages and drops all pages, twice, to also drop pages that another process read
/// or that were under writeback in the first round. Mapped and locked pages stay.
pub fn evict(opened: &OpenTarget) -> Result<(), Errno> {
    const ROUNDS: usize = 2;
    if opened.target.kind == TargetKind::Null {
        return Ok(());
    }
    for _ in 0..ROUNDS {
        fsync(&opened.fd)?;
        invalidate(opened, 0..u64::MAX >> 1)?;
    }
    Ok(())
}

/// Declares the access pattern of a byte range (posix_fadvise(2)), which controls readahead.
pub fn advise(opened: &OpenTarget, hint: Fadvise, range: Range<u64>) -> Result<(), Errno> {
    match hint {
        _ if opened.target.kind == TargetKind::Null => Ok(()),
        Fadvise::Random => advise_range(opened, range, Advice::Random),
        Fadvise::Sequential => advise_range(opened, range, Advice::Sequential),
        // `ByPattern` has already been resolved by the plan.
        Fadvise::None | Fadvise::ByPattern => Ok(()),
    }
}

fn advise_range(opened: &OpenTarget, range: Range<u64>, advice: Advice) -> Result<(), Errno> {
    match NonZeroU64::new(range.end.saturating_sub(range.start)) {
        // For fadvise, a length of 0 means up to the end of the file.
        None => Ok(()),
        length => fadvise(&opened.fd, range.start, length, advice),
    }
}

/// Reads a byte range into the page cache, even if the target is open with O_DIRECT. `progress`
/// receives `PhaseState::Progress` every 100 ms.
pub fn pre_read(
    opened: &OpenTarget,
    range: Range<u64>,
    progress: &mut dyn FnMut(PhaseChange),
    stop: &AtomicBool,
) -> Result<Finish, Errno> {
    if opened.target.kind == TargetKind::Null {
        return Ok(Finish::Done);
    }
    // Reopens the inode without O_DIRECT.
    let path = format!("/proc/self/fd/{}", opened.fd.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let fd = open_noatime(flags, |flags| open(&path, flags, Mode::empty()))?;
    let mut progress = Progress::new(Phase::PreRead, range.end - range.start, progress);
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut offset = range.start;
    while offset < range.end {
        if stop.load(Ordering::Relaxed) {
            return Ok(Finish::Stopped);
        }
        let length = (range.end - offset).min(CHUNK_BYTES as u64) as usize;
        let read = retry_on_intr(|| pread(&fd, &mut buffer[..length], offset))? as u64;
        if read == 0 {
            break;
        }
        offset += read;
        progress.add(read, &opened.target.path);
    }
    Ok(Finish::Done)
}

/// Calls fsync(2): writes the dirty pages and flushes the device cache. EIO may be caused by an
/// earlier write.
pub fn flush(opened: &OpenTarget) -> Result<(), Errno> {
    if opened.target.kind == TargetKind::Null {
        Ok(())
    } else {
        fsync(&opened.fd)
    }
}

/// Writes all of the host's dirty pages and drops its page cache, dentries and inodes.
///
/// # Errors
/// `drop_caches_refused` if the caller is not root, or if procfs is read-only, as in containers.
pub fn drop_caches() -> Result<(), Problem> {
    sync();
    fs::write("/proc/sys/vm/drop_caches", "3").map_err(|error| {
        Problem::environment(
            "drop_caches_refused",
            "drop_caches",
            format!("The host's caches cannot be dropped: {error}."),
            "Run as root on the host itself, or replace drop_caches with invalidate=1, which drops only the target's cache.",
        )
    })
}
