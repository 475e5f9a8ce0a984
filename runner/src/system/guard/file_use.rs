//! Detects whether other processes use a file that a run would overwrite. The kernel grants a write
//! lease only on a file that is not open, locked or mapped anywhere else (check_conflicting_open in
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
    use rustix::{
        fs::fcntl_getfl,
        io::{FdFlags, fcntl_getfd},
    };
    use std::{fs, fs::File, os::unix::fs::symlink, process::Command, thread};

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

    #[test]
    fn files_are_opened_for_writing_without_following_links() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        let file = open_to_write(&path).unwrap();
        let flags = fcntl_getfl(&file).unwrap();
        assert!(flags.contains(OFlags::RDWR | OFlags::NONBLOCK));
        assert_eq!(fcntl_getfd(&file), Ok(FdFlags::CLOEXEC));
        symlink(&path, dir.path().join("link")).unwrap();
        let problem = open_to_write(&dir.path().join("link")).unwrap_err();
        assert_eq!(problem.code, "permission_denied");
    }

    #[test]
    fn running_programs_and_leased_files_are_in_use() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let program = dir.path().join("sleep");
        fs::copy("/bin/sleep", &program).unwrap();
        // Processes that other tests forked may still have the copy open for writing.
        let run = |_| {
            let running = Command::new(&program).arg("60").spawn().ok();
            running.or_else(|| {
                sleep(PAUSE);
                None
            })
        };
        let mut running = (0..TRIES).find_map(run).expect("a running program");
        let problem = open_to_write(&program).unwrap_err();
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(problem.detail.contains("is a running program"), "{problem}");

        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        let leased = File::open(&path).unwrap();
        // Catches SIGIO.
        let _ = lease(&leased);
        // SAFETY: F_SETLEASE takes an integer and accesses no memory of this process.
        let result = unsafe { libc::fcntl(leased.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) };
        assert_eq!(result, 0, "a read lease");
        let problem = open_to_write(&path).unwrap_err();
        assert!(problem.detail.contains("is leased by"), "{problem}");
    }

    /// The kernel grants no lease on a directory.
    #[test]
    fn locks_are_seen_without_leases() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let open = || OwnedFd::from(File::open(dir.path()).unwrap());
        let (file, locked) = (open(), open());
        flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(use_of(&file), Err("is locked by another process"));
        drop(locked);
        assert_eq!(use_of(&file), Ok(()));
    }

    #[test]
    fn short_use_is_waited_for() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        let is_waited_for = || {
            let reader = File::open(&path).unwrap();
            thread::scope(|scope| {
                scope.spawn(|| {
                    sleep(Duration::from_millis(200));
                    drop(reader);
                });
                check_unused(&open_to_write(&path).unwrap(), &path).is_ok()
            })
        };
        // A busy host may suspend the reader.
        assert!((0..5).any(|_| is_waited_for()));
    }

    #[test]
    fn a_broken_lease_does_not_end_the_process() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let _ = lease(&file);
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let mut caught = status
            .lines()
            .filter_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.next().unwrap().trim(), 16).unwrap();
        assert!(caught & 1 << (libc::SIGIO - 1) != 0);
    }
}
