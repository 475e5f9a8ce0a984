//! Gives one file its length and blocks: preallocation, writing with O_DIRECT where possible, and fsync.

use crate::system::guard::Guard;
use crate::system::host::resolved_path::ResolvedPath;
use crate::system::target::cancellable::run_unless_stopped;
use crate::system::target::layout::file_spec::FileSpec;
use crate::system::target::progress::Progress;
use crate::system::target::root_path::open_in_root;
use crate::system::target::{CHUNK_BYTES, Finish};
use leadline_protocol::job::keyword::Fallocate;
use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate, fsync, ftruncate};
use rustix::io::{Errno, fcntl_dupfd_cloexec, pwrite};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Alignment of the write buffer in bytes: the largest sector size, and a page.
const BUFFER_ALIGN: usize = 4096;

/// Opens with O_DIRECT where the filesystem supports it and every write is aligned, so that the layout neither fills the
/// page cache nor leaves dirty pages behind.
pub(crate) fn open_for_layout(
    guard: &Guard,
    found: &ResolvedPath,
    file: &FileSpec,
) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDWR | OFlags::CLOEXEC;
    flags.set(OFlags::CREATE | OFlags::EXCL, found.stat.is_none());
    let align = u64::from(file.alignment).max(BUFFER_ALIGN as u64);
    let is_aligned = file.write.start.is_multiple_of(align) && file.write.end.is_multiple_of(align);
    if file.write.is_empty() || !is_aligned {
        return open_in_root(guard, &found.path, flags);
    }
    match open_in_root(guard, &found.path, flags | OFlags::DIRECT) {
        // The kernel may create the file before it rejects O_DIRECT.
        Err(Errno::INVAL) => open_in_root(guard, &found.path, flags - OFlags::EXCL),
        result => result,
    }
}

pub(crate) fn create_blocks(
    fd: &OwnedFd,
    file: &FileSpec,
    fill: &mut dyn FnMut(u64, &mut [u8]),
    progress: &mut Progress,
    stop: &AtomicBool,
) -> Result<Finish, Errno> {
    if file.write.is_empty() {
        reserve(fd, file.fallocate, file.length)?;
        return sync(fd, stop);
    }
    // Detects a filesystem that is too small before anything is written.
    match fallocate(fd, FallocateFlags::empty(), 0, file.write.end) {
        Ok(()) | Err(Errno::OPNOTSUPP) => {}
        Err(error) => return Err(error),
    }
    if write(fd, file, fill, progress, stop)? == Finish::Stopped
        || sync(fd, stop)? == Finish::Stopped
    {
        return Ok(Finish::Stopped);
    }
    fadvise(fd, 0, None, Advice::DontNeed)?;
    Ok(Finish::Done)
}

fn sync(fd: &OwnedFd, stop: &AtomicBool) -> Result<Finish, Errno> {
    let fd = fcntl_dupfd_cloexec(fd, 0)?;
    match run_unless_stopped(stop, move || fsync(fd)) {
        Ok(Some(synced)) => synced.map(|()| Finish::Done),
        Ok(None) => Ok(Finish::Stopped),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

fn reserve(fd: &OwnedFd, how: Fallocate, length: u64) -> Result<(), Errno> {
    if length == 0 {
        return Ok(());
    }
    match how {
        Fallocate::Written | Fallocate::None => Ok(()),
        Fallocate::Native => fallocate(fd, FallocateFlags::empty(), 0, length),
        Fallocate::Keep => fallocate(fd, FallocateFlags::KEEP_SIZE, 0, length),
        Fallocate::Truncate => ftruncate(fd, length),
        Fallocate::Posix => posix_fallocate(fd, length),
    }
}

/// posix_fallocate(3) writes where the filesystem has no fallocate(2).
fn posix_fallocate(fd: &OwnedFd, length: u64) -> Result<(), Errno> {
    let length = i64::try_from(length).map_err(|_| Errno::FBIG)?;
    // SAFETY: takes an open descriptor and two numbers, and touches no memory of this process.
    match unsafe { libc::posix_fallocate(fd.as_raw_fd(), 0, length) } {
        0 => Ok(()),
        error => Err(Errno::from_raw_os_error(error)),
    }
}

fn write(
    fd: &OwnedFd,
    file: &FileSpec,
    fill: &mut dyn FnMut(u64, &mut [u8]),
    progress: &mut Progress,
    stop: &AtomicBool,
) -> Result<Finish, Errno> {
    let mut memory = vec![0; CHUNK_BYTES + BUFFER_ALIGN];
    let head = memory.as_ptr().align_offset(BUFFER_ALIGN);
    let buffer = &mut memory[head..head + CHUNK_BYTES];
    let mut offset = file.write.start;
    while offset < file.write.end {
        if stop.load(Ordering::Relaxed) {
            return Ok(Finish::Stopped);
        }
        let length = (file.write.end - offset).min(CHUNK_BYTES as u64);
        let chunk = &mut buffer[..length as usize];
        fill(offset, chunk);
        write_all_at(fd, chunk, offset)?;
        offset += length;
        progress.add(length, file.path);
    }
    Ok(Finish::Done)
}

fn write_all_at(fd: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match pwrite(fd, bytes, offset) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
