//! Replaces an earlier run's log with a new file. The new file has its own inode and takes over the
//! log's name, so the contents of an existing file never change.
//!
//! fio's logs have the same format, so only the ownership mark identifies the logs that Leadline
//! wrote.

use crate::system::host::ownership::{Mark, is_owned, mark_owned};
use leadline_export::fio::logs::{LogFormat, LogKind};
use leadline_protocol::problem::Problem;
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use std::{
    fs::{self, File, Metadata},
    io::{self, BufRead, BufReader, Error, ErrorKind, Read},
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    },
    path::{Path, PathBuf},
};

/// Longer than the longest line: a histogram of 1,856 buckets.
const MAX_LINE_BYTES: u64 = 1 << 16;
/// Write permission bits for owner, group and others.
const WRITE_BITS: u32 = 0o222;
/// Appended to the name of the file that replaces a log.
const NEW_FILE_SUFFIX: &str = "leadline-new";

/// Metadata of the log that existed before the run, if any.
pub(super) struct ReplaceableLog(Option<Metadata>);

/// Kind and format of the lines in a log.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    pub kind: LogKind,
    pub format: LogFormat,
    /// Whether the log contains lines from multiple workers, grouped by worker.
    pub is_shared: bool,
}

impl Lines {
    pub(super) fn for_run(kind: LogKind) -> Self {
        Self {
            kind,
            format: LogFormat::default(),
            is_shared: false,
        }
    }
}

/// `option`: the option that problems refer to.
///
/// # Errors
/// The file exists and is not an earlier run's log, or is read-only.
pub(super) fn check_replaceable(
    path: &Path,
    lines: Lines,
    option: &str,
) -> Result<ReplaceableLog, Problem> {
    let keep = |detail: String| {
        Problem::invalid(
            "not_a_log",
            option,
            detail,
            "Move or remove it, or pass another prefix.",
        )
    };
    match find_log(path, lines) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(ReplaceableLog(None)),
        Ok(Some(found)) if found.mode() & WRITE_BITS == 0 => {
            Err(keep(format!("{} is read-only.", path.display())))
        }
        Ok(Some(found)) => Ok(ReplaceableLog(Some(found))),
        Ok(None) | Err(_) => Err(keep(format!(
            "{} exists and is not a log of an earlier run, or has changed since.",
            path.display()
        ))),
    }
}

/// Returns the metadata of a log; `None` if the file is something else.
fn find_log(path: &Path, lines: Lines) -> io::Result<Option<Metadata>> {
    let is_plain = |found: &Metadata| found.is_file() && found.nlink() == 1;
    if !is_plain(&fs::symlink_metadata(path)?) {
        return Ok(None);
    }
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    if !is_owned(Mark::Log, &fd_path(&file)) {
        return Ok(None);
    }
    let found = file.metadata()?;
    Ok((is_plain(&found) && is_log(file, lines)?).then_some(found))
}

fn fd_path(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Marks a complete log so that a later run may replace it. Returns true on success, after which
/// the caller waits for `ownership::MARK_DELAY`. If user xattrs are not supported, the log stays
/// unmarked and is never replaced.
pub(super) fn mark_complete(file: &File) -> bool {
    mark_owned(Mark::Log, &fd_path(file)).is_ok()
}

/// Whether all lines are log lines, in chronological order for each worker.
fn is_log(file: File, lines: Lines) -> io::Result<bool> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut latest = 0;
    loop {
        line.clear();
        (&mut reader)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)?;
        let text = match str::from_utf8(&line) {
            Ok("") => return Ok(true),
            Ok(text) => text.strip_suffix('\n'),
            Err(_) => return Ok(false),
        };
        match text.and_then(|text| lines.format.time_of(lines.kind, text)) {
            Some(time) if time >= latest || lines.is_shared => latest = time,
            _ => return Ok(false),
        }
    }
}

impl ReplaceableLog {
    /// Creates the log and returns it, open for writing.
    ///
    /// # Errors
    /// The file cannot be created, or another file now has its name.
    pub(super) fn replace(&self, path: &Path) -> io::Result<File> {
        let checked = match &self.0 {
            Some(checked) if fs::symlink_metadata(path).is_ok() => checked,
            _ => return File::create_new(path),
        };
        let (new, file) = create_sibling(path)?;
        let replaced = file
            .set_permissions(PermissionsExt::from_mode(checked.mode() & 0o7777))
            .and_then(|()| exchange(&new, path, checked));
        // Removes the old log after an exchange, or the new file after an error.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => replaced.and(Err(error))?,
            _ => replaced?,
        }
        // Fails for unprivileged users, whose files already have the correct owner.
        let _ = fchown(&file, Some(checked.uid()), Some(checked.gid()));
        Ok(file)
    }
}

/// Creates a file with an unused name in the same directory.
fn create_sibling(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = |number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(
            ".{}-{number}.{NEW_FILE_SUFFIX}",
            std::process::id()
        ));
        PathBuf::from(name)
    };
    for number in 0..u8::MAX {
        let new = name(number);
        match File::create_new(&new) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (new, file)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Exchanges the two files if the second one is the checked log.
fn exchange(new: &Path, path: &Path, checked: &Metadata) -> io::Result<()> {
    let swap = || renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE);
    match swap() {
        Ok(()) if is_same(new, checked) => Ok(()),
        Ok(()) => {
            swap()?;
            Err(changed_error())
        }
        // Some filesystems, such as NFS, cannot exchange files.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if is_same(path, checked) => {
            fs::rename(new, path)
        }
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Err(changed_error()),
        Err(error) => Err(error.into()),
    }
}

fn is_same(path: &Path, checked: &Metadata) -> bool {
    let facts = |found: &Metadata| {
        let modified = (found.mtime(), found.mtime_nsec());
        (
            found.dev(),
            found.ino(),
            found.nlink(),
            found.size(),
            modified,
        )
    };
    fs::symlink_metadata(path).is_ok_and(|found| facts(&found) == facts(checked))
}

fn changed_error() -> Error {
    Error::other("another file has taken its name since the run was checked")
}
