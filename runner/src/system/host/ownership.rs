//! Ownership marks of files that a run created: an xattr that contains the inode number, the
//! length, the modification time (mtime) and the time of the mark. Any later change by another
//! program invalidates it: writes change the mtime, and restoring the mtime changes the ctime,
//! which no program can set. On filesystems that do not support user xattrs, files are never owned.

use crate::system::clock::wall_ms;
use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use std::{fs::File, io, os::unix::fs::MetadataExt, path::Path, time::Duration};

/// Purpose for which a run created the file. Only targets may be overwritten by other runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Target,
    Log,
}

impl Mark {
    fn xattr(self) -> &'static str {
        match self {
            Self::Target => "user.leadline.made",
            Self::Log => "user.leadline.log",
        }
    }
}

/// Maximum size of a mark: five numbers of up to 20 digits.
const MAX_BYTES: usize = 112;
/// Maximum time between reading the clock and the ctime that results from setting the mark, in ms:
/// two ticks of the slowest kernel clock.
const MAX_DELAY_MS: i64 = 20;
/// A change after this delay invalidates the mark: the clock may have been read up to one tick
/// after the mark's ctime, and the ctime of the change is up to one tick before the change.
pub(crate) const MARK_DELAY: Duration = Duration::from_millis(2 * MAX_DELAY_MS as u64 + 10);
/// Maximum number of attempts: the process may be preempted between reading the clock and setting
/// the mark.
const TRIES: u32 = 10;

/// Returns true if a run created the file and no other program has written to it since.
pub(crate) fn is_owned(mark: Mark, path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut stored = [0u8; MAX_BYTES];
    let length = fgetxattr(&file, mark.xattr(), &mut stored).unwrap_or(0);
    let text = std::str::from_utf8(&stored[..length]).unwrap_or_default();
    let Some((state, marked_ms)) = text.rsplit_once(' ') else {
        return false;
    };
    let is_unchanged = file_state(&file).is_ok_and(|now| now == state);
    is_unchanged
        && changed_ms(&file).is_some_and(|changed_ms| is_time_of_mark(changed_ms, marked_ms))
}

/// Whether the current ctime results from setting the mark.
fn is_time_of_mark(changed_ms: i64, marked_ms: &str) -> bool {
    let marked_ms: Option<i64> = marked_ms.parse().ok();
    marked_ms.is_some_and(|marked_ms| (changed_ms - marked_ms).abs() <= MAX_DELAY_MS)
}

fn changed_ms(file: &File) -> Option<i64> {
    let found = file.metadata().ok()?;
    Some(found.ctime() * 1000 + found.ctime_nsec() / 1_000_000)
}

/// Marks the current state of a file.
///
/// # Errors
/// EOPNOTSUPP if the filesystem does not support user xattrs.
pub(crate) fn mark_owned(mark: Mark, path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let state = file_state(&file)?;
    for _ in 0..TRIES {
        let text = format!("{state} {}", wall_ms());
        fsetxattr(&file, mark.xattr(), text.as_bytes(), XattrFlags::empty())?;
        if is_owned(mark, path) {
            break;
        }
    }
    Ok(())
}

fn file_state(file: &File) -> io::Result<String> {
    let found = file.metadata()?;
    let inode = found.ino();
    let length = found.len();
    Ok(format!(
        "{inode} {length} {} {}",
        found.mtime(),
        found.mtime_nsec()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn mark_is_valid_until_the_next_write() {
        for mark in [Mark::Target, Mark::Log] {
            check_mark(mark);
        }
    }

    fn check_mark(mark: Mark) {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        assert!(!is_owned(mark, &path), "never marked");
        if let Err(error) = mark_owned(mark, &path) {
            return crate::system::host::fixture::skip(&format!("no user xattrs: {error}"));
        }
        assert!(is_owned(mark, &path));
        let other = match mark {
            Mark::Target => Mark::Log,
            Mark::Log => Mark::Target,
        };
        assert!(!is_owned(other, &path), "a log is not a target");
        assert_eq!(fs::read(&path).unwrap(), b"data");
        assert!(is_owned(mark, &path), "reads keep the mark valid");
        // File timestamps advance once per tick (up to 10 ms).
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, "DATA").unwrap();
        assert!(!is_owned(mark, &path), "same length");
        mark_owned(mark, &path).unwrap();
        fs::copy(&path, dir.path().join("copy")).unwrap();
        assert!(is_owned(mark, &path) && !is_owned(mark, &dir.path().join("copy")));
        assert!(!is_owned(mark, &dir.path().join("missing")));
    }
}
