//! What is at a path: one look that the plan, the guard and the run share. The path is made absolute and free of
//! symbolic links first, so that every later question is about one and the same thing.

use crate::plan::host_view::PathKind;
use crate::system::host::kernel::Dev;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// What is at a path.
#[derive(Clone, Debug)]
pub struct ResolvedPath {
    /// What it is.
    pub kind: PathKind,
    /// The absolute path without symbolic links; where nothing is there, that of the deepest directory with the rest.
    pub path: PathBuf,
    /// What stat(2) says; `None` where nothing is there.
    pub stat: Option<Stat>,
}

/// The part of stat(2) that tells one thing from another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stat {
    /// The filesystem.
    pub dev: Dev,
    /// The inode.
    pub inode: u64,
    /// The device that a device node stands for.
    pub rdev: Dev,
    /// Names that the file has.
    pub links: u64,
    /// Length in bytes; 0 for a device node.
    pub length: u64,
}

impl ResolvedPath {
    /// Looks at an absolute path.
    pub fn find(path: &Path) -> Self {
        match fs::canonicalize(path) {
            Ok(path) => Self::existing(path),
            Err(error)
                if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() =>
            {
                Self::missing(path)
            }
            // A dangling link, a loop of links, a directory that may not be searched.
            Err(_) => Self {
                kind: PathKind::Other,
                path: path.into(),
                stat: None,
            },
        }
    }

    fn existing(path: PathBuf) -> Self {
        let found = fs::metadata(&path).ok();
        let kind = found.as_ref().map_or(PathKind::Other, path_kind);
        Self {
            kind,
            path,
            stat: found.as_ref().map(Stat::of),
        }
    }

    /// Nothing is there: the deepest directory that is, and the rest behind it.
    fn missing(path: &Path) -> Self {
        let (Some(parent), Some(Component::Normal(name))) =
            (path.parent(), path.components().next_back())
        else {
            return Self {
                kind: PathKind::Other,
                path: path.into(),
                stat: None,
            };
        };
        match fs::canonicalize(parent) {
            Ok(directory) if directory.is_dir() => Self {
                kind: PathKind::Missing,
                path: directory.join(name),
                stat: None,
            },
            Ok(file) => Self {
                kind: PathKind::MissingDirectory,
                path: file.join(name),
                stat: None,
            },
            Err(_) => {
                let above = Self::missing(parent);
                let kind = if above.kind == PathKind::Other {
                    PathKind::Other
                } else {
                    PathKind::MissingDirectory
                };
                Self {
                    kind,
                    path: above.path.join(name),
                    stat: None,
                }
            }
        }
    }

    /// The directory that it lies in.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Whether it lies where only device nodes belong: what is missing there is a mistyped device, never a file to
    /// be made. `/dev/shm` is a place for files.
    pub fn is_under_dev(&self) -> bool {
        self.path.starts_with("/dev") && !self.path.starts_with("/dev/shm")
    }
}

impl Stat {
    /// That of something just looked at.
    pub fn of(found: &Metadata) -> Self {
        Self {
            dev: Dev(found.dev()),
            inode: found.ino(),
            rdev: Dev(found.rdev()),
            links: found.nlink(),
            length: found.len(),
        }
    }

    /// Whether two are the same file, or nodes of the same device.
    pub fn is_same(&self, other: &Self) -> bool {
        if self.rdev.0 != 0 || other.rdev.0 != 0 {
            self.rdev == other.rdev
        } else {
            (self.dev, self.inode) == (other.dev, other.inode)
        }
    }
}

fn path_kind(found: &Metadata) -> PathKind {
    let kind = found.file_type();
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn kinds_and_canonical_paths() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("d")).unwrap();
        fs::write(root.join("d/f"), "12345").unwrap();
        symlink(root.join("d"), root.join("link")).unwrap();
        symlink(root.join("gone"), root.join("dangling")).unwrap();
        symlink("self", root.join("self")).unwrap();
        let check = |path: &str, kind: PathKind, want: &str| {
            let place = ResolvedPath::find(&root.join(path));
            assert_eq!((place.kind, place.path), (kind, root.join(want)), "{path}");
        };
        check("d/f", PathKind::File, "d/f");
        check("link/f", PathKind::File, "d/f");
        check("link/../d/./f", PathKind::File, "d/f");
        check("link", PathKind::Directory, "d");
        check("link/new", PathKind::Missing, "d/new");
        check("no/where/new", PathKind::MissingDirectory, "no/where/new");
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
    fn device_nodes_belong_under_dev() {
        for (path, want) in [
            ("/dev/nvme9n1", true),
            ("/dev/mapper/x", true),
            ("/dev/shm/x", false),
            ("/device/x", false),
        ] {
            let place = ResolvedPath {
                kind: PathKind::Missing,
                path: path.into(),
                stat: None,
            };
            assert_eq!(place.is_under_dev(), want, "{path}");
        }
    }
}
