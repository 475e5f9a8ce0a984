//! Sets the length of one file and allocates its blocks: preallocates, writes with O_DIRECT if
//! possible, and calls fsync.

use crate::system::{
    host::resolved_path::ResolvedPath,
    target::{
        CHUNK_BYTES, Finish,
        cancellable::run_with_grace,
        file_spec::FileSpec,
        layout::{
            Layout,
            chunk_writer::{BUFFER_ALIGN, Chunk, ChunkWriter, STOP_GRACE},
        },
        open_beneath::open_in_root,
    },
};
use leadline_protocol::job::keyword::Fallocate;
use rustix::{
    fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate, fstat, fsync, ftruncate},
    io::{Errno, fcntl_dupfd_cloexec},
};
use std::{
    ops::Range,
    os::fd::{AsRawFd, OwnedFd},
    sync::atomic::Ordering,
};

impl Layout<'_> {
    /// Opens with O_DIRECT if the filesystem supports it and every write is aligned, so that the
    /// layout neither fills the page cache nor leaves dirty pages behind.
    pub(super) fn open(&self, found: &ResolvedPath, file: &FileSpec) -> Result<OwnedFd, Errno> {
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC;
        flags.set(OFlags::CREATE | OFlags::EXCL, found.stat.is_none());
        let open = |flags| open_in_root(&self.guard, &found.path, flags);
        let align = u64::from(file.alignment).max(BUFFER_ALIGN as u64);
        let is_aligned = |range: &Range<u64>| {
            range.start.is_multiple_of(align) && range.end.is_multiple_of(align)
        };
        if file.write.is_empty() || !file.write.iter().all(is_aligned) {
            return open(flags);
        }
        match open(flags | OFlags::DIRECT) {
            // The kernel may create the file before it rejects O_DIRECT.
            Err(Errno::INVAL) => open(flags - OFlags::EXCL),
            result => result,
        }
    }

    pub(super) fn create_blocks(&mut self, fd: &OwnedFd, file: &FileSpec) -> Result<Finish, Errno> {
        let old_length = length_of(fd)?;
        if file.write.is_empty() {
            reserve(fd, file.fallocate, old_length..file.length)?;
            return self.sync(fd);
        }
        // Preallocate, to detect a filesystem that is too small before writing any data.
        for range in &file.write {
            match fallocate(
                fd,
                FallocateFlags::empty(),
                range.start,
                range.end - range.start,
            ) {
                Ok(()) | Err(Errno::OPNOTSUPP) => {}
                Err(error) => return Err(error),
            }
        }
        for range in &file.write {
            if self.write(fd, file.path, range)? == Finish::Stopped {
                return Ok(Finish::Stopped);
            }
        }
        if length_of(fd)? < file.length {
            ftruncate(fd, file.length)?;
        }
        if self.sync(fd)? == Finish::Stopped {
            return Ok(Finish::Stopped);
        }
        fadvise(fd, 0, None, Advice::DontNeed)?;
        Ok(Finish::Done)
    }

    fn sync(&mut self, fd: &OwnedFd) -> Result<Finish, Errno> {
        let fd = fcntl_dupfd_cloexec(fd, 0)?;
        match run_with_grace(self.stop, STOP_GRACE, move || fsync(fd)) {
            Ok(Some(synced)) => synced.map(|()| Finish::Done),
            Ok(None) => {
                self.has_hung = true;
                Ok(Finish::Stopped)
            }
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    fn write(&mut self, fd: &OwnedFd, path: &str, range: &Range<u64>) -> Result<Finish, Errno> {
        let writer = ChunkWriter::new(fd)?;
        let mut chunk = Chunk::new();
        let mut offset = range.start;
        while offset < range.end {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Finish::Stopped);
            }
            let length = (range.end - offset).min(CHUNK_BYTES as u64);
            (self.fill)(path, offset, chunk.at(offset, length as usize));
            let Some(written) = writer.write(chunk, self.stop)? else {
                self.has_hung = true;
                return Ok(Finish::Stopped);
            };
            chunk = written;
            offset += length;
            self.progress.add(length, path);
        }
        Ok(Finish::Done)
    }
}

fn length_of(fd: &OwnedFd) -> Result<u64, Errno> {
    Ok(fstat(fd)?.st_size.unsigned_abs())
}

/// Reserves the bytes between the old and the new end of a file.
fn reserve(fd: &OwnedFd, how: Fallocate, range: Range<u64>) -> Result<(), Errno> {
    if range.is_empty() {
        return Ok(());
    }
    let length = range.end - range.start;
    let empty = FallocateFlags::empty();
    match how {
        Fallocate::Written | Fallocate::None => Ok(()),
        Fallocate::Native => fallocate(fd, empty, range.start, length),
        Fallocate::Keep => fallocate(fd, FallocateFlags::KEEP_SIZE, range.start, length),
        Fallocate::Truncate => ftruncate(fd, range.end),
        Fallocate::Posix => posix_fallocate(fd, range.start, length),
    }
}

/// posix_fallocate(3) writes data if the filesystem does not support fallocate(2).
fn posix_fallocate(fd: &OwnedFd, offset: u64, length: u64) -> Result<(), Errno> {
    let offset = i64::try_from(offset).map_err(|_| Errno::FBIG)?;
    let length = i64::try_from(length).map_err(|_| Errno::FBIG)?;
    // SAFETY: takes an open descriptor and two numbers, and does not access this process's memory.
    match unsafe { libc::posix_fallocate(fd.as_raw_fd(), offset, length) } {
        0 => Ok(()),
        error => Err(Errno::from_raw_os_error(error)),
    }
}
