//! Decides whether two files are the same. Device and inode numbers are not sufficient if a
//! filesystem exposes another filesystem's files under its own device number (overlayfs, FUSE), or
//! if the loop driver does not identify a backing file.

use crate::system::host::{
    block_device::{Backing, BlockDevice, SECTOR_BYTES},
    inventory::Inventory,
    kernel::Dev,
    mounts::MountEntry,
    open_files::OpenFile,
    overlay,
    resolved_path::{ResolvedPath, Stat},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Name prefixes of filesystem types that a server implements.
const SERVED: [&str; 6] = ["fuse", "nfs", "cifs", "smb3", "9p", "ceph"];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SameFile {
    Yes,
    /// The files may be the same: they have the same length and, if known, the same inode number.
    Possibly,
}

/// A regular file.
#[derive(Clone, Debug)]
pub(crate) struct FileIdentity {
    path: PathBuf,
    /// Device and inode numbers of the file and, on an overlay, of the underlying file.
    numbers: Vec<(Dev, u64)>,
    inode: Option<u64>,
    /// In bytes.
    length: u64,
    /// Whether `length` is exact. If false, it is the length of a loop device, which consists of
    /// whole sectors.
    has_exact_length: bool,
    numbering: Numbering,
}

/// How to interpret a file's device and inode numbers.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Numbering {
    /// The numbers identify the file.
    Own,
    /// The filesystem exposes other filesystems' files, usually with their inode numbers.
    Exposed,
    /// An overlay whose layers are outside this mount namespace. A copied-up file keeps the inode
    /// number of the lower file.
    Hidden,
    /// The numbers may belong to another file.
    Unknown,
}

impl FileIdentity {
    /// `None` if the files are different.
    pub(crate) fn compare(&self, other: &Self) -> Option<SameFile> {
        let is_shared = |numbers| other.numbers.contains(numbers);
        if self.path == other.path || self.numbers.iter().any(is_shared) {
            return Some(SameFile::Yes);
        }
        let is_possible = match self.numbering.max(other.numbering) {
            Numbering::Unknown => true,
            // Within one filesystem, different numbers always mean different files.
            _ if self.is_on_filesystem_of(other) => false,
            Numbering::Hidden => true,
            Numbering::Exposed => self.has_same_inode(other),
            Numbering::Own => false,
        };
        (is_possible && self.has_same_length(other)).then_some(SameFile::Possibly)
    }

    /// Whether the file is on an overlay, so processes can also use it under other inode numbers.
    pub(crate) fn is_on_overlay(&self) -> bool {
        self.numbers.len() > 1
    }

    fn is_on_filesystem_of(&self, other: &Self) -> bool {
        let filesystem = |file: &Self| file.numbers.first().map(|(dev, _)| *dev);
        filesystem(self) == filesystem(other)
    }

    fn has_same_length(&self, other: &Self) -> bool {
        if self.has_exact_length && other.has_exact_length {
            self.length == other.length
        } else {
            self.length.abs_diff(other.length) < SECTOR_BYTES
        }
    }

    /// With the `xino` option, overlayfs stores a layer number in the high bits.
    fn has_same_inode(&self, other: &Self) -> bool {
        let low = |inode: Option<u64>| inode.map(|inode| inode as u32);
        self.inode.is_some() && low(self.inode) == low(other.inode)
    }
}

impl Inventory {
    /// `path`: canonical path of the file with this `stat`.
    pub(crate) fn file_identity(&self, path: &Path, stat: Stat) -> FileIdentity {
        let mount = self.mount_at(path);
        let filesystem = mount.map_or("", |mount| mount.filesystem.as_str());
        let mut numbers = vec![(stat.dev, stat.inode)];
        let numbering = match filesystem {
            overlay::FILESYSTEM => match self.stat_below_overlay(path) {
                Some(real) => {
                    numbers.push((real.dev, real.inode));
                    Numbering::Exposed
                }
                None => Numbering::Hidden,
            },
            _ if exposes_other_files(filesystem) => Numbering::Exposed,
            _ => Numbering::Own,
        };
        FileIdentity {
            path: path.into(),
            numbers,
            inode: Some(stat.inode),
            length: stat.length,
            has_exact_length: true,
            numbering,
        }
    }

    /// `None` unless the device is a loop device that is attached to a file.
    pub(crate) fn backing_identity(&self, block: &BlockDevice) -> Option<FileIdentity> {
        let backing = block.backing.as_ref()?;
        if backing.device.is_some() {
            return None;
        }
        let path = Path::new(&backing.path);
        let visible = (!self.may_hang(backing)).then(|| ResolvedPath::find(path).stat);
        if let Some(stat) = visible
            .flatten()
            .filter(|stat| backing.is_identified && backing.is_file(*stat))
        {
            return Some(self.file_identity(path, stat));
        }
        Some(FileIdentity {
            path: path.into(),
            numbers: backing.filesystem.zip(backing.inode).into_iter().collect(),
            inode: backing.inode,
            length: backing.offset + block.size_bytes,
            has_exact_length: false,
            numbering: self.numbering_of_invisible_file(backing),
        })
    }

    /// Whether a process has the file open or mapped, directly or through an overlay. A file that
    /// is only possibly the same does not count, because a FUSE server has every file open that is
    /// used through its filesystem.
    pub(crate) fn is_open_as(&self, file: &FileIdentity, open: &OpenFile) -> bool {
        let has = |stat: Stat| file.numbers.contains(&(stat.dev, stat.inode));
        let may_be_exposed = || open.stat.length == file.length || !file.has_exact_length;
        has(open.stat) || (may_be_exposed() && self.stat_below_open_file(open).is_some_and(has))
    }

    /// The file below an open file on an overlay, which may be mounted in another mount namespace.
    fn stat_below_open_file(&self, open: &OpenFile) -> Option<Stat> {
        let is_overlay = |mount: &&MountEntry| {
            mount.filesystem == overlay::FILESYSTEM && Some(mount.id) == open.mount
        };
        let mount = self.mounts.iter().find(is_overlay)?;
        let path = fs::read_link(&open.link).ok()?;
        let real = overlay::real_file_on(&self.mounts, mount, &path, open.stat.length)?;
        ResolvedPath::find(&real.path).stat
    }

    /// Whether the file is on a filesystem whose server may not respond. A check of another target
    /// must not wait for it.
    fn may_hang(&self, backing: &Backing) -> bool {
        let mut mounts = self.mounts.iter();
        mounts.any(|mount| {
            Some(mount.dev) == backing.filesystem
                && SERVED.iter().any(|name| mount.filesystem.starts_with(name))
        })
    }

    fn stat_below_overlay(&self, path: &Path) -> Option<Stat> {
        ResolvedPath::find(&overlay::real_file(&self.mounts, path)?.path).stat
    }

    /// How to interpret the numbers of a backing file outside this mount namespace.
    fn numbering_of_invisible_file(&self, backing: &Backing) -> Numbering {
        let Some(dev) = backing.filesystem.filter(|_| backing.is_identified) else {
            return Numbering::Unknown;
        };
        let mut mounts = self.mounts.iter().filter(|mount| mount.dev == dev);
        if dev.is_anonymous() && mounts.all(|mount| exposes_other_files(&mount.filesystem)) {
            Numbering::Exposed
        } else {
            Numbering::Own
        }
    }
}

/// `fuseblk` filesystems are on a block device.
fn exposes_other_files(filesystem: &str) -> bool {
    matches!(filesystem, overlay::FILESYSTEM | "fuse" | "ecryptfs")
        || filesystem.starts_with("fuse.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: (Dev, u64) = (Dev(1), 1 << 40 | 7);

    fn identity(numbers: (Dev, u64)) -> FileIdentity {
        FileIdentity {
            path: format!("/{numbers:?}").into(),
            numbers: vec![numbers],
            inode: Some(numbers.1),
            length: 4096,
            has_exact_length: true,
            numbering: Numbering::Own,
        }
    }

    #[test]
    fn files_that_share_numbers_or_a_path_are_the_same() {
        let file = identity(FILE);
        assert_eq!(file.compare(&identity(FILE)), Some(SameFile::Yes));
        let mut other = identity((Dev(2), 7));
        assert_eq!(file.compare(&other), None);
        other.numbers.push(FILE);
        assert_eq!(file.compare(&other), Some(SameFile::Yes));
        let mut other = identity((Dev(2), 8));
        other.path.clone_from(&file.path);
        assert_eq!(file.compare(&other), Some(SameFile::Yes));
    }

    #[test]
    fn exposed_files_with_the_same_inode_and_length_are_possibly_the_same() {
        let file = identity(FILE);
        let shown = |inode: u64, length: u64| FileIdentity {
            numbering: Numbering::Exposed,
            length,
            ..identity((Dev(2), inode))
        };
        let check = |other: &FileIdentity, want: Option<SameFile>| {
            assert_eq!(file.compare(other), want, "{other:?}");
            assert_eq!(other.compare(&file), want, "{other:?}");
        };
        check(&shown(7, 4096), Some(SameFile::Possibly));
        check(&shown(8, 4096), None);
        check(&shown(7, 4097), None);
        let loop_device = |length: u64| FileIdentity {
            has_exact_length: false,
            ..shown(7, length)
        };
        check(&loop_device(4096), Some(SameFile::Possibly));
        check(&loop_device(4608), None);
        let unidentified = |length: u64| FileIdentity {
            numbering: Numbering::Unknown,
            inode: None,
            ..loop_device(length)
        };
        check(&unidentified(4096 - 511), Some(SameFile::Possibly));
        check(&unidentified(4096 - 512), None);
        let hidden = |filesystem: u64, length: u64| FileIdentity {
            numbering: Numbering::Hidden,
            length,
            ..identity((Dev(filesystem), 8))
        };
        check(&hidden(2, 4096), Some(SameFile::Possibly));
        check(&hidden(2, 4097), None);
        check(&hidden(1, 4096), None);
    }

    #[test]
    fn finds_filesystems_that_expose_other_files() {
        for (filesystem, want) in [
            ("overlay", true),
            ("fuse", true),
            ("fuse.bindfs", true),
            ("fuseblk", false),
            ("ext4", false),
        ] {
            assert_eq!(exposes_other_files(filesystem), want, "{filesystem}");
        }
    }
}
