//! Resolves paths to files and devices. The plan, the guard and the run all use it, so their
//! results are consistent. Paths are made absolute and symbolic links are resolved first, so all
//! later checks refer to the same file.

use crate::{plan::host_view::PathKind, system::host::kernel::Dev};
use std::{
    fs::{self, File, Metadata},
    io::{self, ErrorKind},
    os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
    path::{Component, Path, PathBuf},
};

#[derive(Clone, Debug)]
pub(crate) struct ResolvedPath {
    pub kind: PathKind,
    /// Canonical path. For a missing file: the canonical path of the deepest existing directory,
    /// with the rest appended.
    pub path: PathBuf,
    /// `None` if nothing exists at the path.
    pub stat: Option<Stat>,
}

/// The fields of stat(2) that identify a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Stat {
    pub dev: Dev,
    pub inode: u64,
    pub rdev: Dev,
    /// Number of hard links.
    pub links: u64,
    /// Length in bytes; 0 for a device node.
    pub length: u64,
}

impl ResolvedPath {
    /// `path` must be absolute.
    pub(crate) fn find(path: &Path) -> Self {
        match fs::canonicalize(path) {
            Ok(path) => {
                let metadata = fs::metadata(&path).ok();
                Self {
                    kind: metadata.as_ref().map_or(PathKind::Other, path_kind),
                    path,
                    stat: metadata.as_ref().map(Stat::of),
                }
            }
            Err(error)
                if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() =>
            {
                Self::find_missing(path)
            }
            // Fails for a dangling link, a symlink loop, or a directory that may not be searched.
            Err(_) => Self::with_unknown_stat(PathKind::Other, path.into()),
        }
    }

    fn with_unknown_stat(kind: PathKind, path: PathBuf) -> Self {
        Self {
            kind,
            path,
            stat: None,
        }
    }

    fn find_missing(path: &Path) -> Self {
        let name = path.components().next_back();
        let (Some(parent), Some(Component::Normal(name))) = (path.parent(), name) else {
            return Self::with_unknown_stat(PathKind::Other, path.into());
        };
        match fs::canonicalize(parent) {
            Ok(parent) if parent.is_dir() => {
                Self::with_unknown_stat(PathKind::Missing, parent.join(name))
            }
            Ok(file) => Self::with_unknown_stat(PathKind::MissingDirectory, file.join(name)),
            Err(_) => {
                let above = Self::find_missing(parent);
                let kind = match above.kind {
                    PathKind::Other => PathKind::Other,
                    _ => PathKind::MissingDirectory,
                };
                Self::with_unknown_stat(kind, above.path.join(name))
            }
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Returns true for paths where only device nodes are expected: if such a path does not exist,
    /// it is a mistyped device, not a file to create. `/dev/shm` contains regular files.
    pub(crate) fn is_under_dev(&self) -> bool {
        self.path.starts_with("/dev") && !self.path.starts_with("/dev/shm")
    }
}

impl Stat {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            dev: Dev(metadata.dev()),
            inode: metadata.ino(),
            rdev: Dev(metadata.rdev()),
            links: metadata.nlink(),
            length: metadata.len(),
        }
    }

    pub(crate) fn of_fd(fd: impl AsFd) -> io::Result<Self> {
        let file = File::from(fd.as_fd().try_clone_to_owned()?);
        Ok(Self::of(&file.metadata()?))
    }

    /// Compares device numbers for device nodes, and inodes for files.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        if self.rdev.0 != 0 || other.rdev.0 != 0 {
            self.rdev == other.rdev
        } else {
            (self.dev, self.inode) == (other.dev, other.inode)
        }
    }
}

fn path_kind(metadata: &Metadata) -> PathKind {
    let kind = metadata.file_type();
    if kind.is_file() {
        PathKind::File
    } else if kind.is_dir() {
        PathKind::Directory
    } else if kind.is_block_device() {
        PathKind::Device
    } else {
        PathKind::Other
    }
}

/// The path itself, or the deepest existing directory above it.
pub(crate) fn deepest_existing_path(path: &Path) -> &Path {
    let mut ancestors = path.ancestors();
    ancestors
        .find(|path| path.exists())
        .unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn path_kinds_and_canonical_paths() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("d")).unwrap();
        fs::write(root.join("d/f"), "12345").unwrap();
        symlink(root.join("d"), root.join("link")).unwrap();
        symlink(root.join("gone"), root.join("dangling")).unwrap();
        symlink("self", root.join("self")).unwrap();
        let check = |path: &str, kind: PathKind, want: &str| {
            let found = ResolvedPath::find(&root.join(path));
            assert_eq!((found.kind, found.path), (kind, root.join(want)), "{path}");
        };
        check("d/f", PathKind::File, "d/f");
        check("link/f", PathKind::File, "d/f");
        check("link/../d/./f", PathKind::File, "d/f");
        check("link", PathKind::Directory, "d");
        check("link/new", PathKind::Missing, "d/new");
        check(
            "missing/dir/new",
            PathKind::MissingDirectory,
            "missing/dir/new",
        );
        check("d/f/new", PathKind::Other, "d/f/new");
        check("dangling", PathKind::Other, "dangling");
        check("self", PathKind::Other, "self");
        check("no/../d/x", PathKind::Other, "no/../d/x");
        assert_eq!(
            ResolvedPath::find(Path::new("/dev/null")).kind,
            PathKind::Other
        );
    }

    #[test]
    fn dev_contains_only_device_nodes_except_shm() {
        for (path, want) in [
            ("/dev/nvme9n1", true),
            ("/dev/mapper/x", true),
            ("/dev/shm/x", false),
            ("/device/x", false),
        ] {
            let found = ResolvedPath {
                kind: PathKind::Missing,
                path: path.into(),
                stat: None,
            };
            assert_eq!(found.is_under_dev(), want, "{path}");
        }
    }
}
