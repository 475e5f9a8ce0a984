//! The database file in the data directory. Detects whether the file was replaced after it was
//! opened. Also manages the marker file `initialized`, which prevents the server from starting with
//! an empty database after the real one was lost.

use crate::{
    lock_holder::{LockKind, lock_holder},
    store::fault::StoreFault,
};
use anyhow::{Result, bail, ensure};
use rustix::fs::{Mode, OFlags, fstat, open};
use std::{
    io::ErrorKind,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

/// Contains the database ID.
const MARKER: &str = "initialized";
/// Contains the address of the last server.
const LOCK: &str = "lock";
/// Directory for events that are not yet in the database.
const SPOOL: &str = "spool";

/// File name prefixes of database backups.
const COPIES: [&str; 2] = ["leadline-v", "leadline.db.rescued-"];

/// The open database file.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Keeps the inode number from being reused. Opened with `O_PATH`, because closing any other
    /// descriptor of the file would release SQLite's locks.
    opened: OwnedFd,
    device: u64,
    inode: u64,
}

impl DatabaseFile {
    pub(super) fn new(path: &Path) -> std::io::Result<Self> {
        let opened = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let found = fstat(&opened)?;
        Ok(Self {
            path: path.to_owned(),
            opened,
            device: found.st_dev,
            inode: found.st_ino,
        })
    }

    /// Whether closing the connections would lose data: the open file was deleted, not just moved,
    /// or its write-ahead log is missing.
    pub(super) fn is_deleted(&self) -> bool {
        let has_no_name = fstat(&self.opened).is_ok_and(|opened| opened.st_nlink == 0);
        has_no_name || (self.check_path().is_ok() && self.check_log().is_err())
    }

    /// Returns the other process that has locked the database.
    pub(super) fn lock_holder(&self) -> Option<String> {
        // SQLite locks the index of the write-ahead log, or the database if there is no log.
        let files = [with_suffix(&self.path, "-shm"), self.path.clone()];
        files
            .iter()
            .find_map(|file| lock_holder(file, LockKind::Posix))
    }

    /// Path for a copy of the open file.
    pub(super) fn rescue_path(&self, now_ms: u64) -> PathBuf {
        with_suffix(&self.path, &format!(".rescued-{now_ms}"))
    }

    /// Fails if the path no longer refers to the open file, or if its write-ahead log, which the
    /// readers keep open, is missing. A new connection would create an empty log.
    pub(super) fn check(&self) -> Result<(), StoreFault> {
        self.check_path()?;
        self.check_log()
    }

    fn check_path(&self) -> Result<(), StoreFault> {
        match std::fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => Ok(()),
            Ok(_) => Err(replaced_fault(&self.path)),
            Err(error) if is_absent(&error) => Err(replaced_fault(&self.path)),
            Err(error) => Err(StoreFault::Unavailable(error.to_string())),
        }
    }

    fn check_log(&self) -> Result<(), StoreFault> {
        let log = log_path(&self.path);
        match std::fs::metadata(&log) {
            Err(error) if is_absent(&error) => Err(replaced_fault(&log)),
            _ => Ok(()),
        }
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn replaced_fault(path: &Path) -> StoreFault {
    StoreFault::Replaced(path.display().to_string())
}

/// Path of the write-ahead log.
pub(super) fn log_path(database: &Path) -> PathBuf {
    with_suffix(database, "-wal")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

pub(super) fn spool_dir(data_dir: &Path) -> PathBuf {
    data_dir.join(SPOOL)
}

/// Called if the directory contains no database. Fails if it used to contain one.
pub(super) fn check_unused(data_dir: &Path, database: &Path) -> Result<()> {
    let spool = spool_dir(data_dir);
    let has_spool = std::fs::read_dir(&spool).is_ok_and(|mut files| files.next().is_some());
    let log = log_path(database);
    let evidence = [
        (data_dir.join(MARKER), data_dir.join(MARKER).exists()),
        (spool, has_spool),
        // The first start creates the lock file before the database, and fills it in afterward.
        (data_dir.join(LOCK), has_content(&data_dir.join(LOCK))),
        // The first start creates the database file before its write-ahead log.
        (log.clone(), !database.exists() && has_content(&log)),
    ];
    let found = evidence.iter().filter(|(_, exists)| *exists);
    let found: Vec<String> = found.map(|(path, _)| path.display().to_string()).collect();
    if found.is_empty() {
        return Ok(());
    }
    let found = found.join(", ");
    let copies = describe_backups(data_dir);
    bail!(
        "the database is missing or empty, but the directory was used before ({found}). No empty database was created. Restore leadline.db from a backup{copies}, and remove the leadline.db-wal and leadline.db-shm of the old file. To start with an empty database, remove {found} or choose another --data-dir"
    )
}

/// Returns text that lists the database backups in the directory, such as ` (found:
/// leadline-v9.db)`.
pub(super) fn describe_backups(data_dir: &Path) -> String {
    let files = std::fs::read_dir(data_dir).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let is_copy = |name: &String| COPIES.iter().any(|prefix| name.starts_with(prefix));
    let mut copies: Vec<String> = names.filter(is_copy).collect();
    if copies.is_empty() {
        return String::new();
    }
    copies.sort();
    format!(" (found: {})", copies.join(", "))
}

fn has_content(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

/// Fails if the marker contains the ID of a different database. `id` is `None` for a database
/// without an ID.
pub(super) fn check_marker(data_dir: &Path, id: Option<&str>) -> Result<()> {
    if let (Some(marker), Some(id)) = (read_marker(data_dir), id) {
        ensure!(
            marker == id,
            "it belongs to another directory: its ID is {id}, but {MARKER} contains {marker}. Restore the right file, or remove {MARKER} to use this one. The file was not changed"
        );
    }
    Ok(())
}

/// Failure is not an error: the server works without a marker, for example if the disk is full.
pub(super) fn write_marker(data_dir: &Path, id: &str) {
    if read_marker(data_dir).as_deref() == Some(id) {
        return;
    }
    if let Err(error) = std::fs::write(data_dir.join(MARKER), format!("{id}\n")) {
        tracing::warn!("cannot write {MARKER}, which is used to detect a lost database: {error}");
    }
}

fn read_marker(data_dir: &Path) -> Option<String> {
    let marker = std::fs::read_to_string(data_dir.join(MARKER)).ok()?;
    let id = marker.trim();
    (!id.is_empty()).then(|| id.to_owned())
}
