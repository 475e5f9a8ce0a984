//! Detects whether other processes use a file that a run would overwrite. The kernel grants a write
//! lease only on a file that no other process has open, locked or mapped (check_conflicting_open in
//! fs/locks.c). If leases are not supported or not permitted, only locks are detected.

use crate::system::guard::{FIELD, file::permission_denied};
use leadline_protocol::problem::Problem;
use rustix::{
    fs::{FlockOperation, Mode, OFlags, fcntl_lock, flock, open},
    io::Errno,
};
use signal_hook::flag;
use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::Path,
    sync::{Arc, Once},
    thread::sleep,
    time::Duration,
};

/// Retries for one second, because other programs briefly open files, and the kernel closes a
/// ring's files some time after its process has ended.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Opens an existing regular file for writing, without changing it, to check whether this is
/// possible.
///
/// # Errors
/// `permission_denied` (also for immutable and append-only files), or `file_in_use` for a running
/// program.
pub(crate) fn open_to_write(path: &Path) -> Result<OwnedFd, Problem> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::TXTBSY => file_in_use(path, "is a running program"),
        Errno::AGAIN => file_in_use(path, "is leased by another process"),
        error => permission_denied(path)(error),
    })
}

/// `file`: this process's only descriptor for the file at `path`.
///
/// # Errors
/// `file_in_use`.
pub(crate) fn check_unused(file: &OwnedFd, path: &Path) -> Result<(), Problem> {
    let mut tries = 1;
    while let Err(reason) = use_of(file) {
        if tries == TRIES {
            return Err(file_in_use(path, reason));
        }
        tries += 1;
        sleep(PAUSE);
    }
    Ok(())
}

/// # Errors
/// Returns how another process uses the file.
fn use_of(file: &OwnedFd) -> Result<(), &'static str> {
    // Other errors: leases are not supported, or not permitted.
    if lease(file) == Err(Errno::AGAIN) {
        return Err("is open in another process");
    }
    let lock = FlockOperation::NonBlockingLockExclusive;
    match flock(file, lock).and_then(|()| fcntl_lock(file, lock)) {
        Err(Errno::AGAIN | Errno::ACCESS) => Err("is locked by another process"),
        // Closing the file releases both locks.
        _ => Ok(()),
    }
}

/// Takes a write lease and releases it.
fn lease(file: impl AsFd) -> Result<(), Errno> {
    // The kernel sends SIGIO if another process opens the file now, which would kill this process.
    static CATCH: Once = Once::new();
    CATCH.call_once(|| drop(flag::register(libc::SIGIO, Arc::default())));
    let fd = file.as_fd().as_raw_fd();
    for kind in [libc::F_WRLCK, libc::F_UNLCK] {
        // SAFETY: F_SETLEASE takes an integer and does not access this process's memory.
        if unsafe { libc::fcntl(fd, libc::F_SETLEASE, kind) } == -1 {
            return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
    }
    Ok(())
}

fn file_in_use(path: &Path, reason: &str) -> Problem {
    Problem::guard(
        "file_in_use",
        FIELD,
        format!("{} {reason}.", path.display()),
        format!(
            "Stop that process (fuser -v {}), or choose another file.",
            path.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, fs::File};

    #[test]
    fn open_and_locked_files_are_in_use() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        let check = || check_unused(&open_to_write(&path)?, &path);
        assert!(check().is_ok());
        let reader = File::open(&path).unwrap();
        let problem = check().unwrap_err();
        assert!(problem.code == "file_in_use", "{problem}");
        drop(reader);
        // Processes that other tests forked while the file was open still have it open.
        assert!((0..30).any(|_| check().is_ok()), "again");
        assert_eq!(fs::read(&path).unwrap(), b"data");
    }
}
