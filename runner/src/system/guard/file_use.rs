//! Detects whether other processes use a file that a run would overwrite. The kernel grants a write
//! lease only on a file that is not open, locked or mapped anywhere else (check_conflicting_open in
//! fs/locks.c). If leases are not supported or not permitted, only locks are detected.

use crate::system::{
    guard::{FIELD, file::permission_denied},
    host::open_files::{User, first_preventing_use},
};
use leadline_protocol::problem::Problem;
use rustix::{
    fs::{Access, AtFlags, CWD, FlockOperation, Mode, OFlags, accessat, flock, fstatfs, open},
    io::Errno,
};
use signal_hook::flag;
use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::Path,
    sync::{Arc, Once},
    thread::sleep,
    time::{Duration, Instant},
};

/// How long to retry a failed check. Other programs open files briefly, and the kernel closes an
/// io_uring's files some time after its process exits.
const RETRY_FOR: Duration = Duration::from_secs(1);
/// Pause before the first retry. It doubles with each retry up to `MAX_PAUSE`, because a check that
/// searches the open files of all processes takes several milliseconds of CPU time.
const PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_millis(160);

/// OVERLAYFS_SUPER_MAGIC in linux/magic.h.
const OVERLAY_MAGIC: u64 = 0x794c_7630;

/// Opens an existing regular file, without changing it, and checks whether it can be written to.
///
/// # Errors
/// `permission_denied` (also for immutable and append-only files), or `file_in_use` if the file is
/// a running program or is leased by another process.
pub(crate) fn open_for_writing(path: &Path) -> Result<OwnedFd, Problem> {
    try_open_for_writing(path).map_err(|error| match error {
        Errno::TXTBSY => file_in_use(path, "is a running program"),
        Errno::AGAIN => file_in_use(path, "is leased by another process"),
        error => permission_denied(path)(error),
    })
}

/// Opens a file for writing. On overlayfs, opens it read-only after checking write access: opening
/// it for writing would copy it up, and a plan must not change anything.
///
/// # Errors
/// Same as `open` and `access`.
pub(crate) fn try_open_for_writing(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let found = open(path, flags | OFlags::PATH, Mode::empty())?;
    if fstatfs(&found)?.f_type as u64 != OVERLAY_MAGIC {
        return open(path, flags | OFlags::RDWR, Mode::empty());
    }
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)?;
    open(path, flags | OFlags::RDONLY, Mode::empty())
}

/// `file`: this process's only descriptor for the file at `path`.
///
/// # Errors
/// `file_in_use`.
pub(crate) fn check_unused(file: &OwnedFd, path: &Path) -> Result<(), Problem> {
    retry(|| check_not_in_use(file)).map_err(|reason| file_in_use(path, reason))
}

/// Like `check_unused`, but for a file that Leadline created: other processes may read it, and
/// other runs may write to it. `users` lists the processes that use the file.
///
/// # Errors
/// `file_in_use` if another program's process has the file open for writing or has locked it.
pub(crate) fn check_unwritten(
    file: OwnedFd,
    path: &Path,
    users: impl Fn() -> Vec<User<()>>,
) -> Result<(), Problem> {
    retry(|| check_unlocked(&file)).map_err(|reason| file_in_use(path, reason))?;
    // A read lease is not granted while the file is open for writing, even in this process.
    drop(file);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let reader = open(path, flags, Mode::empty()).map_err(permission_denied(path))?;
    retry(|| match lease(&reader, libc::F_RDLCK) {
        Err(Errno::AGAIN) => check_no_other_writer(users()),
        _ => Ok(()),
    })
    .map_err(|reason| file_in_use(path, &reason))
}

/// # Errors
/// Describes the process that has the file open for writing, unless it is another Leadline run.
/// This process must have the file open only for reading.
fn check_no_other_writer(users: Vec<User<()>>) -> Result<(), String> {
    let is_run = |user: &User<()>| user.is_own && user.access.prevents_writes();
    let has_other_run = users.iter().any(is_run);
    match first_preventing_use(users) {
        Some(user) => Err(format!("is {} in {}", user.access, user.process)),
        None if has_other_run => Ok(()),
        None => Err("is open for writing in another process".into()),
    }
}

/// Retries a failed check for up to one second.
///
/// # Errors
/// Returns the last error.
pub(crate) fn retry<E>(check: impl Fn() -> Result<(), E>) -> Result<(), E> {
    let start = Instant::now();
    let mut pause = PAUSE;
    loop {
        match check() {
            Err(_) if start.elapsed() < RETRY_FOR => sleep(pause),
            result => return result,
        }
        pause = MAX_PAUSE.min(2 * pause);
    }
}

/// # Errors
/// Returns how another process uses the file.
fn check_not_in_use(file: &OwnedFd) -> Result<(), &'static str> {
    // Any other error means that leases are not supported or not permitted.
    if lease(file, libc::F_WRLCK) == Err(Errno::AGAIN) {
        return Err("is open in another process");
    }
    check_unlocked(file)
}

/// # Errors
/// Returns how another process uses the file.
pub(crate) fn check_unlocked(file: &OwnedFd) -> Result<(), &'static str> {
    let result = flock(file, FlockOperation::NonBlockingLockExclusive);
    // This lock must not affect a later check of the same file.
    let _ = flock(file, FlockOperation::NonBlockingUnlock);
    if result == Err(Errno::AGAIN) || has_posix_lock(file) {
        return Err("is locked by another process");
    }
    Ok(())
}

/// Only tests for a lock, because acquiring a write lock requires a descriptor that is open for
/// writing.
fn has_posix_lock(file: &OwnedFd) -> bool {
    // SAFETY: an all-zero `flock` is valid and covers the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: F_GETLK accesses only the passed structure, which outlives the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) };
    result == 0 && lock.l_type != libc::F_UNLCK as libc::c_short
}

/// Takes a lease (F_WRLCK or F_RDLCK) and releases it.
fn lease(file: impl AsFd, kind: i32) -> Result<(), Errno> {
    // If another process opens the file now, the kernel sends SIGIO, which would kill this process.
    static CATCH: Once = Once::new();
    CATCH.call_once(|| drop(flag::register(libc::SIGIO, Arc::default())));
    let fd = file.as_fd().as_raw_fd();
    for kind in [kind, libc::F_UNLCK] {
        // SAFETY: F_SETLEASE takes an integer and does not access this process's memory.
        if unsafe { libc::fcntl(fd, libc::F_SETLEASE, kind) } == -1 {
            return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
    }
    Ok(())
}

pub(crate) fn file_in_use(path: &Path, reason: &str) -> Problem {
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
        let check = || check_unused(&open_for_writing(&path)?, &path);
        assert!(check().is_ok());
        let reader = File::open(&path).unwrap();
        let problem = check().unwrap_err();
        assert!(problem.code == "file_in_use", "{problem}");
        drop(reader);
        // Processes that other tests forked while the file was open may still have it open.
        assert!((0..30).any(|_| check().is_ok()), "again");
        assert_eq!(fs::read(&path).unwrap(), b"data");
    }

    #[test]
    fn files_are_opened_for_writing_without_following_links() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        let file = open_for_writing(&path).unwrap();
        let flags = fcntl_getfl(&file).unwrap();
        assert!(flags.contains(OFlags::RDWR | OFlags::NONBLOCK));
        assert_eq!(fcntl_getfd(&file), Ok(FdFlags::CLOEXEC));
        symlink(&path, dir.path().join("link")).unwrap();
        let problem = open_for_writing(&dir.path().join("link")).unwrap_err();
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
        let mut running = (0..100).find_map(run).expect("a running program");
        let problem = open_for_writing(&program).unwrap_err();
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(problem.detail.contains("is a running program"), "{problem}");

        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        let leased = File::open(&path).unwrap();
        // Registers a handler for SIGIO.
        let _ = lease(&leased, libc::F_WRLCK);
        // SAFETY: F_SETLEASE takes an integer and does not access this process's memory.
        let result = unsafe { libc::fcntl(leased.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) };
        assert_eq!(result, 0, "a read lease");
        let problem = open_for_writing(&path).unwrap_err();
        assert!(problem.detail.contains("is leased by"), "{problem}");
    }

    /// The kernel does not grant leases on directories.
    #[test]
    fn locks_are_detected_without_leases() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let open = || OwnedFd::from(File::open(dir.path()).unwrap());
        let (file, locked) = (open(), open());
        flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(check_not_in_use(&file), Err("is locked by another process"));
        drop(locked);
        assert_eq!(check_not_in_use(&file), Ok(()));
    }

    #[test]
    fn waits_for_brief_use_to_end() {
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
                check_unused(&open_for_writing(&path).unwrap(), &path).is_ok()
            })
        };
        // The reader may be delayed on a busy host.
        assert!((0..5).any(|_| is_waited_for()));
    }

    #[test]
    fn a_broken_lease_does_not_kill_the_process() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let _ = lease(&file, libc::F_WRLCK);
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let mut caught = status
            .lines()
            .filter_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.next().unwrap().trim(), 16).unwrap();
        assert!(caught & 1 << (libc::SIGIO - 1) != 0);
    }
}
