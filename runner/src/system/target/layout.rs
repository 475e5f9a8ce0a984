//! Laying out: files get their length and their blocks before anything is measured, as the plan says. What cannot be
//! finished is undone: a full filesystem is left as it was.

use crate::plan::host_view::PathKind;
use crate::system::guard::{Guard, Purpose};
use crate::system::host::ownership;
use crate::system::host::resolved_path::ResolvedPath;
use crate::system::target::cancellable::run_unless_stopped;
use crate::system::target::created_files::Made;
use crate::system::target::open::{changed, failed, open_beneath, purpose, remove_beneath, stat};
use crate::system::target::{CHUNK_BYTES, Finish, PROGRESS_EVERY, Targets};
use leadline_protocol::job::value::{Fallocate, FileState};
use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use leadline_protocol::plan::resolved::{ResolvedJob, Target, TargetKind};
use leadline_protocol::problem::Problem;
use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate, fsync, ftruncate};
use rustix::io::{Errno, fcntl_dupfd_cloexec, pwrite};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Puts the data of a file from a byte offset on into a buffer.
pub type Fill<'a> = dyn FnMut(u64, &mut [u8]) + 'a;

/// Alignment of the layout's own buffer in bytes: that of the coarsest sectors and of pages.
const BUFFER_ALIGN: usize = 4096;

/// What is to become of one file; several jobs that name it want it together.
struct Piece<'a> {
    path: &'a str,
    /// Bytes from here to `end` are written; nothing is when they are equal.
    start: u64,
    end: u64,
    /// Length that it shall have, and how it gets its blocks when it is not written.
    length: u64,
    fallocate: Fallocate,
    /// Alignment that direct I/O needs, in bytes.
    alignment: u32,
    purpose: Purpose,
    unlink: bool,
    /// What an earlier run of ours left there is removed first.
    fresh: bool,
}

impl<'a> Piece<'a> {
    fn new(job: &ResolvedJob, target: &'a Target) -> Self {
        let start = target.length.saturating_sub(target.layout_bytes);
        let Target {
            length, alignment, ..
        } = *target;
        Self {
            path: &target.path,
            start,
            end: length,
            length,
            fallocate: job.target.fallocate,
            alignment,
            purpose: purpose(job),
            unlink: job.target.unlink,
            fresh: job.target.file_state == FileState::Fresh,
        }
    }

    /// The same file as another job wants it: the longer and the more of it.
    fn join(&mut self, other: Self) {
        match (self.bytes(), other.bytes()) {
            (_, 0) => {}
            (0, _) => (self.start, self.end) = (other.start, other.end),
            _ => (self.start, self.end) = (self.start.min(other.start), self.end.max(other.end)),
        }
        self.length = self.length.max(other.length);
        self.alignment = self.alignment.max(other.alignment);
        self.unlink &= other.unlink;
        if other.purpose == Purpose::Write {
            self.purpose = Purpose::Write;
        }
    }

    fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// The files of all jobs, each once. Those made at open are not laid out.
fn pieces(jobs: &[ResolvedJob]) -> Vec<Piece<'_>> {
    let mut pieces: BTreeMap<&str, Piece> = BTreeMap::new();
    for job in jobs.iter().filter(|job| !job.target.create_on_open) {
        for target in job
            .targets
            .iter()
            .filter(|target| matches!(target.kind, TargetKind::File | TargetKind::Loop))
        {
            let piece = Piece::new(job, target);
            match pieces.get_mut(target.path.as_str()) {
                Some(known) => known.join(piece),
                None => drop(pieces.insert(&target.path, piece)),
            }
        }
    }
    pieces.into_values().collect()
}

/// How far the layout is, over all files.
struct Progress<'a> {
    report: &'a mut dyn FnMut(PhaseChange),
    done: u64,
    total: u64,
    last: Instant,
}

impl Progress<'_> {
    fn add(&mut self, bytes: u64, path: &str) {
        self.done += bytes;
        if self.last.elapsed() >= PROGRESS_EVERY || self.done == self.total {
            self.last = Instant::now();
            let (done_bytes, total_bytes) = (Some(self.done), Some(self.total));
            (self.report)(PhaseChange {
                phase: Phase::Layout,
                state: PhaseState::Progress,
                done_bytes,
                total_bytes,
                planned_ms: None,
                note: Some(path.into()),
            });
        }
    }
}

impl Targets {
    /// Makes and fills the files of all jobs of a run, as the plan says. `fill` gives the data that is written, such as
    /// `Stamp::fill`; `progress` is told every 100 ms how far it is (only `Progress`: begin and end are the caller's).
    /// What was written lies on the device and not in the page cache afterwards.
    ///
    /// # Errors
    /// The guard's words, or `no_space`, `fallocate_unsupported`, `layout_failed`, `open_failed`. The file at which it
    /// failed or was stopped is then as it was before, or gone if this run made it.
    pub fn lay_out(
        &mut self,
        jobs: &[ResolvedJob],
        fill: &mut Fill,
        progress: &mut dyn FnMut(PhaseChange),
        stop: &AtomicBool,
    ) -> Result<Finish, Problem> {
        let guard = Guard::live(&self.roots);
        let pieces = pieces(jobs);
        let total = pieces.iter().map(Piece::bytes).sum();
        let mut progress = Progress {
            report: progress,
            done: 0,
            total,
            last: Instant::now(),
        };
        for piece in &pieces {
            if self.lay_out_one(&guard, piece, fill, &mut progress, stop)? == Finish::Stopped {
                return Ok(Finish::Stopped);
            }
        }
        Ok(Finish::Done)
    }

    fn lay_out_one(
        &mut self,
        guard: &Guard,
        piece: &Piece,
        fill: &mut Fill,
        progress: &mut Progress,
        stop: &AtomicBool,
    ) -> Result<Finish, Problem> {
        let place = make_room(guard, ResolvedPath::find(Path::new(piece.path)), piece)?;
        let before = place.stat.map(|stat| stat.length);
        let changes = piece.bytes() > 0
            || before.is_none_or(|length| length < piece.length && piece.purpose == Purpose::Write);
        guard.admit(
            &place,
            if changes {
                Purpose::Write
            } else {
                piece.purpose
            },
        )?;
        if !changes || place.kind == PathKind::Device {
            return Ok(Finish::Done);
        }
        self.remember(&place);
        let fd =
            open_for_layout(guard, &place, piece).map_err(|error| failed(piece.path, error))?;
        let made = Made::new(
            &place.path,
            stat(&fd).map_err(|error| failed(piece.path, error))?,
            piece.unlink,
        );
        let done = give_blocks(&fd, piece, fill, progress, stop);
        match done {
            Ok(Finish::Done) if before.is_none() => self.made.push(made),
            Ok(Finish::Done) => {}
            _ => undo(guard, &fd, &made, before)?,
        }
        done.map_err(|error| explain(piece, error))
    }
}

/// Removes the file of an earlier run of ours where a fresh one is wanted. The plan has refused all others; what became
/// somebody else's since is refused here.
fn make_room(guard: &Guard, place: ResolvedPath, piece: &Piece) -> Result<ResolvedPath, Problem> {
    if !piece.fresh || place.kind != PathKind::File {
        return Ok(place);
    }
    guard.admit(&place, Purpose::Write)?;
    if !ownership::is_owned(&place.path) {
        return Err(changed(piece.path, "was written by somebody else"));
    }
    remove_beneath(guard, &place.path).map_err(|error| {
        let sentence = format!(
            "{} cannot be removed: {}.",
            piece.path,
            std::io::Error::from(error)
        );
        Problem::environment(
            "layout_failed",
            "file_state",
            sentence,
            "Remove it by hand, or write file_state=overwrite.",
        )
    })?;
    Ok(ResolvedPath::find(&place.path))
}

/// With O_DIRECT where the filesystem takes it and every write will be aligned, so that the layout neither fills the
/// page cache nor leaves writeback behind.
fn open_for_layout(guard: &Guard, place: &ResolvedPath, piece: &Piece) -> Result<OwnedFd, Errno> {
    let create = if place.stat.is_none() {
        OFlags::CREATE | OFlags::EXCL
    } else {
        OFlags::empty()
    };
    let plain = OFlags::RDWR | OFlags::CLOEXEC | create;
    let align = u64::from(piece.alignment).max(BUFFER_ALIGN as u64);
    if piece.bytes() == 0 || !piece.start.is_multiple_of(align) || !piece.end.is_multiple_of(align)
    {
        return open_beneath(guard, &place.path, plain);
    }
    match open_beneath(guard, &place.path, plain | OFlags::DIRECT) {
        // The file may have been made before O_DIRECT was refused.
        Err(Errno::INVAL) => open_beneath(guard, &place.path, plain - OFlags::EXCL),
        result => result,
    }
}

fn give_blocks(
    fd: &OwnedFd,
    piece: &Piece,
    fill: &mut Fill,
    progress: &mut Progress,
    stop: &AtomicBool,
) -> Result<Finish, Errno> {
    if piece.bytes() == 0 {
        reserve(fd, piece.fallocate, piece.length)?;
        return sync(fd, stop);
    }
    // First the room, so that a filesystem that is too small says so before anything is written.
    match fallocate(fd, FallocateFlags::empty(), 0, piece.end) {
        Ok(()) | Err(Errno::OPNOTSUPP) => {}
        Err(error) => return Err(error),
    }
    if write_out(fd, piece, fill, progress, stop)? == Finish::Stopped
        || sync(fd, stop)? == Finish::Stopped
    {
        return Ok(Finish::Stopped);
    }
    fadvise(fd, 0, None, Advice::DontNeed)?;
    Ok(Finish::Done)
}

/// fsync(2), for which nobody waits who asks for an end.
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

/// The C library's: writes where the filesystem has no fallocate(2).
fn posix_fallocate(fd: &OwnedFd, length: u64) -> Result<(), Errno> {
    let length = i64::try_from(length).map_err(|_| Errno::FBIG)?;
    // SAFETY: takes an open descriptor and two numbers, and touches no memory of ours.
    match unsafe { libc::posix_fallocate(fd.as_raw_fd(), 0, length) } {
        0 => Ok(()),
        error => Err(Errno::from_raw_os_error(error)),
    }
}

fn write_out(
    fd: &OwnedFd,
    piece: &Piece,
    fill: &mut Fill,
    progress: &mut Progress,
    stop: &AtomicBool,
) -> Result<Finish, Errno> {
    let mut memory = vec![0; CHUNK_BYTES + BUFFER_ALIGN];
    let head = memory.as_ptr().align_offset(BUFFER_ALIGN);
    let buffer = &mut memory[head..head + CHUNK_BYTES];
    let mut offset = piece.start;
    while offset < piece.end {
        if stop.load(Ordering::Relaxed) {
            return Ok(Finish::Stopped);
        }
        let length = (piece.end - offset).min(CHUNK_BYTES as u64) as usize;
        fill(offset, &mut buffer[..length]);
        write_all_at(fd, &buffer[..length], offset)?;
        offset += length as u64;
        progress.add(length as u64, piece.path);
    }
    Ok(Finish::Done)
}

fn write_all_at(fd: impl AsFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match pwrite(&fd, bytes, offset) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => (bytes, offset) = (&bytes[written..], offset + written as u64),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A file that was there gets its old length back, one that was not goes.
fn undo(guard: &Guard, fd: &OwnedFd, made: &Made, before: Option<u64>) -> Result<(), Problem> {
    match before {
        None => made.remove(guard).map(drop),
        Some(length) if stat(fd).is_ok_and(|now| now.length > length) => {
            ftruncate(fd, length).map_err(|error| failed(&made.path.to_string_lossy(), error))
        }
        Some(_) => Ok(()),
    }
}

fn explain(piece: &Piece, error: Errno) -> Problem {
    let Piece { path, length, .. } = piece;
    let why = std::io::Error::from(error);
    match error {
        Errno::NOSPC | Errno::DQUOT => {
            let sentence =
                format!("The filesystem of {path} has no room for {length} bytes ({why}).");
            Problem::environment(
                "no_space",
                "size",
                sentence,
                "Use a smaller size, or free space. What was begun is removed.",
            )
        }
        Errno::OPNOTSUPP => {
            let sentence = format!(
                "The filesystem of {path} has no fallocate={} ({why}).",
                piece.fallocate.word()
            );
            Problem::environment(
                "fallocate_unsupported",
                "fallocate",
                sentence,
                "Use fallocate=written, truncate or none.",
            )
        }
        _ => Problem::environment(
            "layout_failed",
            "filename",
            format!("{path} could not be laid out: {why}."),
            "Check the device and the filesystem (dmesg).",
        ),
    }
}
