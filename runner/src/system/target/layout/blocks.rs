//! Sets the length of one file and allocates its blocks: preallocates, writes with O_DIRECT if
//! possible, and calls fsync.

use crate::system::{
    host::resolved_path::ResolvedPath,
    target::{
        CHUNK_BYTES, Finish,
        cancellable::{ExitBlocker, HUNG_TIMEOUT, finish_with_grace},
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
    time::Duration,
};

impl Layout<'_> {
    /// Opens the file with O_DIRECT if the filesystem supports it and every write is aligned. This
    /// way, the layout does not fill the page cache and leaves no dirty pages.
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
        if file.write.is_empty() {
            let (how, length) = (file.fallocate, file.length);
            let reserved = self.call(fd, move |fd| reserve(fd, how, file_length(fd)?..length))?;
            return match reserved {
                Finish::Done => self.call(fd, |fd| fsync(fd)),
                Finish::Stopped => Ok(Finish::Stopped),
            };
        }
        // Preallocate, to detect a filesystem that is too small before writing any data.
        for range in &file.write {
            if self.call(fd, preallocate(range.clone()))? == Finish::Stopped {
                return Ok(Finish::Stopped);
            }
        }
        for range in &file.write {
            if self.write(fd, file.path, range)? == Finish::Stopped {
                return Ok(Finish::Stopped);
            }
        }
        let length = file.length;
        self.call(fd, move |fd| {
            if file_length(fd)? < length {
                ftruncate(fd, length)?;
            }
            fsync(fd)?;
            fadvise(fd, 0, None, Advice::DontNeed)
        })
    }

    /// Makes system calls that wait for the storage. Sets `has_hung` if they have not returned
    /// within `STOP_GRACE` of a stop.
    fn call(
        &mut self,
        fd: &OwnedFd,
        calls: impl FnOnce(&OwnedFd) -> Result<(), Errno> + Send + 'static,
    ) -> Result<Finish, Errno> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Finish::Stopped);
        }
        self.finish_call(fd, STOP_GRACE, calls)
    }

    /// Like `call`, but makes the calls even after a stop, and then waits up to `grace` for them.
    fn finish_call(
        &mut self,
        fd: &OwnedFd,
        grace: Duration,
        calls: impl FnOnce(&OwnedFd) -> Result<(), Errno> + Send + 'static,
    ) -> Result<Finish, Errno> {
        let fd = fcntl_dupfd_cloexec(fd, 0)?;
        match finish_with_grace(self.stop, grace, move || calls(&fd)) {
            Ok(Some(result)) => result.map(|()| Finish::Done),
            Ok(None) => {
                self.has_hung = true;
                Ok(Finish::Stopped)
            }
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    /// Restores the length of a file that the layout extended. If the storage has hung, waits for
    /// only `HUNG_TIMEOUT`. The truncation is still performed later, after the hung call, in case
    /// that call extends the file.
    pub(super) fn restore_length(&mut self, fd: &OwnedFd, length: u64) -> Result<Finish, Errno> {
        let has_hung = self.has_hung;
        let grace = if has_hung { HUNG_TIMEOUT } else { STOP_GRACE };
        let blocker = ExitBlocker::new();
        self.finish_call(fd, grace, move |fd| {
            let _blocker = blocker;
            if has_hung || file_length(fd)? > length {
                ftruncate(fd, length)?;
            }
            Ok(())
        })
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

/// Filesystems that do not support fallocate(2) allocate the blocks when they are written.
fn preallocate(range: Range<u64>) -> impl FnOnce(&OwnedFd) -> Result<(), Errno> {
    move |fd| {
        let length = range.end - range.start;
        match fallocate(fd, FallocateFlags::empty(), range.start, length) {
            Err(Errno::OPNOTSUPP) => Ok(()),
            result => result,
        }
    }
}

fn file_length(fd: &OwnedFd) -> Result<u64, Errno> {
    Ok(fstat(fd)?.st_size.unsigned_abs())
}

/// Allocates the bytes between a file's old end and its new end.
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
    // SAFETY: the call takes an open descriptor and two numbers, and does not access this process's
    // memory.
    match unsafe { libc::posix_fallocate(fd.as_raw_fd(), offset, length) } {
        0 => Ok(()),
        error => Err(Errno::from_raw_os_error(error)),
    }
}
