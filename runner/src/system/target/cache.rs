//! The page cache of an open target: emptied, filled, advised, written back.

use crate::system::host::ioctl::flush_block_device;
use crate::system::target::{CHUNK_BYTES, Finish, OpenTarget, PROGRESS_EVERY};
use leadline_protocol::job::value::Fadvise;
use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use leadline_protocol::plan::resolved::TargetKind;
use leadline_protocol::problem::Problem;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fsync, open, sync};
use rustix::io::{Errno, pread};
use std::fs;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Drops the clean pages of a range of bytes (a device's: all of them) from the page cache. As in fio, dirty pages of
/// a file stay; those of a device are written first, where we may (CAP_SYS_ADMIN).
///
/// # Errors
/// What the kernel says, such as EIO when a device's dirty pages could not be written.
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

/// Writes all dirty pages of a target and drops all of its pages, twice: what somebody else read or was still being written
/// the first time. What is mapped or locked stays.
///
/// # Errors
/// What the kernel says, such as EIO when dirty pages could not be written.
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

/// Tells the kernel what the pattern on a range of bytes will be; decides about readahead.
///
/// # Errors
/// What the kernel says.
pub fn advise(opened: &OpenTarget, hint: Fadvise, range: Range<u64>) -> Result<(), Errno> {
    match hint {
        _ if opened.target.kind == TargetKind::Null => Ok(()),
        Fadvise::Random => advise_range(opened, range, Advice::Random),
        Fadvise::Sequential => advise_range(opened, range, Advice::Sequential),
        // The plan has settled `by pattern` before.
        Fadvise::None | Fadvise::ByPattern => Ok(()),
    }
}

fn advise_range(opened: &OpenTarget, range: Range<u64>, advice: Advice) -> Result<(), Errno> {
    // A length of None would mean up to the end.
    std::num::NonZeroU64::new(range.end.saturating_sub(range.start)).map_or(Ok(()), |length| {
        fadvise(&opened.fd, range.start, Some(length), advice)
    })
}

/// Reads a range of bytes into the page cache, also for a target that is open for direct I/O. `progress` is told every
/// 100 ms how far it is (only `Progress`: begin and end are the caller's).
///
/// # Errors
/// What the kernel says of the first read that failed.
pub fn pre_read(
    opened: &OpenTarget,
    range: Range<u64>,
    progress: &mut dyn FnMut(PhaseChange),
    stop: &AtomicBool,
) -> Result<Finish, Errno> {
    if opened.target.kind == TargetKind::Null {
        return Ok(Finish::Done);
    }
    // A further opening of the same inode, without O_DIRECT.
    let fd = open(
        format!("/proc/self/fd/{}", opened.fd.as_raw_fd()),
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let (mut buffer, mut last, mut at) = (vec![0; CHUNK_BYTES], Instant::now(), range.start);
    while at < range.end {
        if stop.load(Ordering::Relaxed) {
            return Ok(Finish::Stopped);
        }
        match read_some(&fd, &mut buffer, at, range.end)? {
            0 => break,
            read => at += read as u64,
        }
        if last.elapsed() >= PROGRESS_EVERY || at == range.end {
            last = Instant::now();
            let (done_bytes, total_bytes) = (Some(at - range.start), Some(range.end - range.start));
            progress(PhaseChange {
                phase: Phase::PreRead,
                state: PhaseState::Progress,
                done_bytes,
                total_bytes,
                planned_ms: None,
                note: Some(opened.target.path.clone()),
            });
        }
    }
    Ok(Finish::Done)
}

/// Reads up to one chunk that ends no later than `end`; 0 at the end of the file.
fn read_some(fd: impl AsFd, buffer: &mut [u8], at: u64, end: u64) -> Result<usize, Errno> {
    let length = (end - at).min(buffer.len() as u64) as usize;
    loop {
        match pread(&fd, &mut buffer[..length], at) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// Writes the target's dirty pages, and lets the device flush its cache (fsync(2)).
///
/// # Errors
/// What the kernel says; EIO may stem from a write long before.
pub fn flush(opened: &OpenTarget) -> Result<(), Errno> {
    if opened.target.kind == TargetKind::Null {
        Ok(())
    } else {
        fsync(&opened.fd)
    }
}

/// Writes all dirty pages of the host and drops all of its page cache, dentries and inodes. Global.
///
/// # Errors
/// `drop_caches_refused` without root, or where procfs is read-only, as in containers.
pub fn drop_caches() -> Result<(), Problem> {
    sync();
    fs::write("/proc/sys/vm/drop_caches", "3").map_err(|error| {
        let sentence = format!("The caches of the host cannot be dropped: {error}.");
        Problem::environment(
            "drop_caches_refused",
            "drop_caches",
            sentence,
            "Run as root on the host itself, or leave drop_caches out: invalidate=1 empties the target's own cache.",
        )
    })
}
