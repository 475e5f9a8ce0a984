//! The file of the database. SQLite would write to a deleted file until it is closed, and create an
//! empty one at the next start.

use anyhow::ensure;
use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Exists in a directory whose database was created once.
const MARKER: &str = "initialized";

/// The file that the connections have open.
#[derive(Clone, Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl DatabaseFile {
    /// The file at a path, which is marked as created.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        File::create(path.with_file_name(MARKER))?;
        Ok(Self {
            path: path.to_owned(),
            device: found.dev(),
            inode: found.ino(),
        })
    }

    /// # Errors
    /// Another file, or none, has the path of the database.
    pub(super) fn check(&self) -> sqlx::Result<()> {
        let is_same = |found: fs::Metadata| (found.dev(), found.ino()) == (self.device, self.inode);
        if fs::metadata(&self.path).is_ok_and(is_same) {
            return Ok(());
        }
        let detail = format!(
            "{} was deleted or replaced while the server was running. Move it back, or stop the server and restore a copy",
            self.path.display()
        );
        Err(sqlx::Error::Io(io::Error::other(detail)))
    }
}

/// # Errors
/// The directory had a database, which is missing.
pub(super) fn check_present(path: &Path) -> anyhow::Result<()> {
    let marker = path.with_file_name(MARKER);
    ensure!(
        path.exists() || !marker.exists(),
        "it is missing, although this directory had a database. Restore it, or remove {} to begin with an empty one",
        marker.display()
    );
    Ok(())
}
