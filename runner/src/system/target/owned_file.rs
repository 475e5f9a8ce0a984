//! A file that a Leadline run created. It is removed only if the same inode is still at the same
//! path.

use crate::{
    plan::host_view::PathKind,
    system::{
        guard::Guard,
        host::resolved_path::{ResolvedPath, Stat},
        target::{checks::remove_failed, open_beneath::remove_in_root},
    },
};
use leadline_protocol::problem::Problem;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct OwnedFile {
    pub path: PathBuf,
    stat: Stat,
    /// Whether the job has `unlink=1`.
    pub unlink: bool,
}

impl OwnedFile {
    pub(crate) fn new(path: &Path, stat: Stat, unlink: bool) -> Self {
        Self {
            path: path.into(),
            stat,
            unlink,
        }
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        let found = ResolvedPath::find(&self.path);
        found.kind == PathKind::File
            && found.path == self.path
            && found.stat.is_some_and(|now| now.is_same(&self.stat))
    }

    /// Removes the file and returns true, unless the path no longer refers to the same regular
    /// file.
    pub(crate) fn remove(&self, guard: &Guard) -> Result<bool, Problem> {
        if !self.is_unchanged() {
            return Ok(false);
        }
        remove_in_root(guard, &self.path).map_err(remove_failed(&self.path))?;
        Ok(true)
    }
}
