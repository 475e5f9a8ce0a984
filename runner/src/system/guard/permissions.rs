//! Permissions granted by the operator: directories for target files, and devices for raw writes.
//! Jobs cannot extend them.

use leadline_protocol::problem::Problem;
use rustix::{
    fs::{Mode, OFlags, fstat, open},
    io::{Errno, fcntl_dupfd_cloexec},
};
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Flags for opening a directory to look up paths below it.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

#[derive(Clone, Debug, Default)]
pub struct Permissions {
    roots: Arc<[Root]>,
    /// Device identities, as in the device list.
    raw_writes: Arc<[String]>,
}

/// A target root. It is opened once, so a directory or link that later replaces it is not used.
#[derive(Debug)]
struct Root {
    /// Canonical path.
    path: PathBuf,
    directory: Result<OwnedFd, Errno>,
}

impl Permissions {
    /// `roots`: target files must be below one of these directories. If empty (no `--target-root`
    /// on the command line), files may be anywhere. `raw_writes`: identities of the devices that
    /// may be written to. Loop devices backed by files below a root need no entry.
    pub fn new(roots: &[PathBuf], raw_writes: &[String]) -> Self {
        Self {
            roots: roots.iter().map(|root| Root::open(root)).collect(),
            raw_writes: raw_writes.into(),
        }
    }

    /// Makes a root unusable, which `problems` reports, if it is no longer the directory that the
    /// caller expects. `ids`: the directories' device and inode numbers as `DEV:INODE`, in the
    /// order of the roots; empty to skip the check.
    pub fn with_root_ids(self, ids: &[String]) -> Self {
        let mut roots = Vec::new();
        for (index, root) in self.roots.iter().enumerate() {
            let directory = match ids.get(index) {
                Some(id) if root.id().as_ref() != Some(id) => Err(Errno::STALE),
                _ => root.try_clone(),
            };
            let path = root.path.clone();
            roots.push(Root { path, directory });
        }
        Self {
            roots: roots.into(),
            ..self
        }
    }

    /// Permissions for files below these roots, without raw writes to listed devices.
    pub fn below(roots: &[PathBuf]) -> Self {
        Self::new(roots, &[])
    }

    /// Problems with target roots that cannot be opened or were replaced.
    pub fn problems(&self) -> Vec<Problem> {
        self.roots.iter().filter_map(Root::problem).collect()
    }

    pub(crate) fn has_roots(&self) -> bool {
        !self.roots.is_empty()
    }

    /// Canonical paths of the target roots.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// The target root that contains a canonical path. Compares whole path components: `/data2` is
    /// not below `/data`.
    pub(crate) fn root_containing(&self, path: &Path) -> Option<(&Path, BorrowedFd<'_>)> {
        self.roots.iter().find_map(|root| {
            let directory = root.directory.as_ref().ok()?;
            let is_below = path.starts_with(&root.path);
            is_below.then(|| (root.path.as_path(), directory.as_fd()))
        })
    }

    pub(crate) fn may_write(&self, identity: &str) -> bool {
        self.raw_writes.iter().any(|allowed| allowed == identity)
    }
}

impl Root {
    fn open(path: &Path) -> Self {
        // A canonical path contains no links, so both paths refer to the same directory.
        let canonical = path.canonicalize();
        let path = canonical.as_deref().unwrap_or(path).to_owned();
        let directory = open(&path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
        Self { path, directory }
    }

    fn try_clone(&self) -> Result<OwnedFd, Errno> {
        fcntl_dupfd_cloexec(self.directory.as_ref().map_err(|error| *error)?, 0)
    }

    /// The root's ID, as `DEV:INODE`.
    fn id(&self) -> Option<String> {
        let found = fstat(self.directory.as_ref().ok()?).ok()?;
        Some(format!("{}:{}", found.st_dev, found.st_ino))
    }

    fn problem(&self) -> Option<Problem> {
        let error = self.directory.as_ref().err()?;
        if *error == Errno::STALE {
            return Some(Problem::guard(
                "target_root_replaced",
                "target_root",
                format!(
                    "The target root {} is now a different directory.",
                    self.path.display()
                ),
                "Mount the original filesystem again, or restart the server.",
            ));
        }
        Some(Problem::environment(
            "target_root_missing",
            "target_root",
            format!(
                "The target root {} cannot be opened: {error}.",
                self.path.display()
            ),
            "Create the directory, or mount its filesystem, before starting.",
        ))
    }
}
