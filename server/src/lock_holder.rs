//! Finds the process that holds a lock.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Lock type, spelled as in `/proc/locks`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LockKind {
    /// A `flock` lock.
    Flock,
    /// A `fcntl` lock, as used by SQLite.
    Posix,
}

/// Returns the other process that holds an exclusive lock on a file, such as `process 4321
/// (sqlite3)`. Returns `None` if there is none or it is in another PID namespace.
pub(crate) fn lock_holder(path: &Path, kind: LockKind) -> Option<String> {
    let inode = std::fs::metadata(path).ok()?.ino();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let own = std::process::id();
    let pid = locks
        .lines()
        .filter_map(|line| holder(line, inode, kind))
        .find(|pid| ![0, own].contains(pid))?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("process {pid} ({})", name.trim()))
}

/// The process ID in a line like `1: POSIX ADVISORY WRITE 4321 fe:00:1234 120 120`, if its inode
/// number matches. On some filesystems, the device numbers differ from those returned by `stat`.
fn holder(line: &str, inode: u64, kind: LockKind) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, found, _, "WRITE", pid, file, ..] = fields[..] else {
        return None;
    };
    let expected = match kind {
        LockKind::Flock => "FLOCK",
        LockKind::Posix => "POSIX",
    };
    let is_same = found == expected && file.rsplit(':').next() == Some(&inode.to_string());
    is_same.then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_only_the_lock_holder() {
        for (line, expected) in [
            (
                "1: POSIX  ADVISORY  WRITE 4321 fe:00:1234 120 120",
                Some(4321),
            ),
            ("1: POSIX  ADVISORY  READ 4321 fe:00:1234 123 123", None),
            ("1: POSIX  ADVISORY  WRITE 4321 fe:00:123 120 120", None),
            ("1: FLOCK  ADVISORY  WRITE 4321 fe:00:1234 0 EOF", None),
            // This process is only waiting for the lock.
            ("1: -> POSIX  ADVISORY  WRITE 4321 fe:00:1234 120 120", None),
            // Open file description locks are not owned by a process.
            ("1: OFDLCK ADVISORY  WRITE -1 fe:00:1234 0 EOF", None),
        ] {
            assert_eq!(holder(line, 1234, LockKind::Posix), expected, "{line}");
        }
    }
}
