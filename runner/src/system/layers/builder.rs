//! Follows targets down to their disks.

use crate::system::{
    host::{
        block_device::{BlockDevice, SECTOR_BYTES},
        file::statx_direct_io,
        inventory::Inventory,
        ioctl::loop_status,
        kernel::{Dev, read_flag, unescape, value},
        mounts::MountEntry,
    },
    layers::{Bypass, LowerLayer, Mapping, StoredFile},
    probes::residency::ResidencyMethod,
};
use leadline_protocol::device::DeviceKind;
use rustix::fs::fstatfs;
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::{
        fd::{AsFd, AsRawFd},
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
};

/// Maximum nesting depth of loop devices.
const MAX_DEPTH: u32 = 8;
/// Readahead is at most two windows ahead, and a sequential hint doubles the window size.
const READAHEAD_WINDOWS: u64 = 4;
/// Used if the kernel does not report the window size.
const DEFAULT_READAHEAD_BYTES: u64 = 16 << 20;
const MEMORY_FILESYSTEMS: &[&str] = &["tmpfs", "ramfs", "hugetlbfs"];
/// Filesystems whose extents have offsets on their device.
const PHYSICAL_EXTENTS: &[&str] = &["ext2", "ext3", "ext4", "xfs", "f2fs"];
/// btrfs block size, used if it cannot be read.
const BTRFS_BLOCK_BYTES: u64 = 4096;

/// Builds the layers of targets. Targets on the same device share the layers below it.
pub(crate) struct LayersBuilder<'a> {
    host: &'a Inventory,
    /// Layers by kernel name of the device.
    devices: BTreeMap<String, Arc<LowerLayer>>,
    /// Number of loop devices above the current one.
    depth: u32,
}

impl<'a> LayersBuilder<'a> {
    pub(crate) fn new(host: &'a Inventory) -> Self {
        Self {
            host,
            devices: BTreeMap::new(),
            depth: 0,
        }
    }

    /// `path`: path of the open file or device, to find its mount.
    ///
    /// # Errors
    /// Returns an error if the file cannot be reopened for reading.
    pub(crate) fn target(&mut self, file: impl AsFd, path: &Path) -> io::Result<StoredFile> {
        self.file(reopen_noatime(&file)?, path)
    }

    fn file(&mut self, file: File, path: &Path) -> io::Result<StoredFile> {
        let stat = file.metadata()?;
        if stat.rdev() != 0
            && let Some(block) = self.host.by_dev(Dev(stat.rdev()))
        {
            return Ok(self.block_device(file, block));
        }
        let mount = self.host.mount_at(path);
        let filesystem = mount.map(|mount| mount.filesystem.as_str());
        let device = mount.and_then(|mount| self.host.mounted_device(mount));
        match filesystem {
            Some(name) if MEMORY_FILESYSTEMS.contains(&name) => Ok(in_memory(file)),
            Some("overlay") => match below_overlay(&file, path, self.host) {
                Some(real) => Ok(StoredFile {
                    honors_sync: !mount.is_some_and(is_volatile),
                    ..self.file(open_noatime(&real)?, &real)?
                }),
                None => Ok(hidden_overlay(file)),
            },
            _ => Ok(StoredFile {
                residency: ResidencyMethod::detect(file.as_fd()).ok(),
                bypass: bypass(&file, filesystem),
                mapping: Mapping::Fiemap {
                    is_physical: filesystem.is_some_and(|name| PHYSICAL_EXTENTS.contains(&name)),
                },
                below: device
                    .map_or_else(|| LowerLayer::Unknown.into(), |device| self.members(device)),
                readahead_bytes: readahead_bytes(Dev(stat.dev())),
                honors_sync: true,
                file,
            }),
        }
    }

    fn block_device(&mut self, file: File, block: &BlockDevice) -> StoredFile {
        StoredFile {
            residency: ResidencyMethod::detect(file.as_fd()).ok(),
            bypass: Bypass::All,
            mapping: Mapping::Identity,
            below: self.below(block),
            readahead_bytes: readahead_bytes(block.dev),
            honors_sync: true,
            file,
        }
    }

    /// The layer formed by all members of the filesystem on a device.
    fn members(&mut self, block: &BlockDevice) -> Arc<LowerLayer> {
        let names = self.host.filesystem_members(&block.name);
        let members = names.iter().filter_map(|name| self.host.blocks.get(name));
        self.all(&members.collect::<Vec<_>>())
    }

    /// The layer formed by several devices; known only if all are disks or all are in memory.
    fn all(&mut self, blocks: &[&BlockDevice]) -> Arc<LowerLayer> {
        let each = blocks.iter().map(|block| self.below(block));
        let merge = |one: Arc<LowerLayer>, other: Arc<LowerLayer>| match (&*one, &*other) {
            (LowerLayer::Disk, LowerLayer::Disk) | (LowerLayer::Memory, LowerLayer::Memory) => one,
            _ => LowerLayer::Unknown.into(),
        };
        each.reduce(merge)
            .unwrap_or_else(|| LowerLayer::Unknown.into())
    }

    fn below(&mut self, block: &BlockDevice) -> Arc<LowerLayer> {
        if let Some(known) = self.devices.get(&block.name) {
            return known.clone();
        }
        let below = match block.kind {
            DeviceKind::Zram | DeviceKind::Ram => LowerLayer::Memory.into(),
            DeviceKind::Loop => self
                .loop_device(block)
                .unwrap_or(LowerLayer::Unknown)
                .into(),
            DeviceKind::Partition => self.partition(block),
            DeviceKind::Dm | DeviceKind::Md => self.stacked(block),
            _ => LowerLayer::Disk.into(),
        };
        self.devices.insert(block.name.clone(), below.clone());
        below
    }

    /// A device whose mapping to the devices below it is unknown.
    fn stacked(&mut self, block: &BlockDevice) -> Arc<LowerLayer> {
        let below = self.all(&self.host.parents(block));
        match &*below {
            LowerLayer::File { .. } => LowerLayer::Unknown.into(),
            _ => below,
        }
    }

    fn partition(&mut self, block: &BlockDevice) -> Arc<LowerLayer> {
        let sectors: u64 = value(block.dir.join("start")).unwrap_or(0);
        let disk = block
            .disk
            .as_ref()
            .and_then(|name| self.host.blocks.get(name));
        match disk {
            Some(disk) if disk.backing.is_some() => {
                let found = self.loop_device(disk).unwrap_or(LowerLayer::Unknown);
                found.starting_at(sectors * SECTOR_BYTES).into()
            }
            Some(disk) => self.below(disk),
            None => LowerLayer::Disk.into(),
        }
    }

    fn loop_device(&mut self, block: &BlockDevice) -> Option<LowerLayer> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        let path = PathBuf::from(&block.backing.as_ref()?.path);
        let file = open_noatime(&path).ok()?;
        let start = File::open(block.path()).ok().and_then(loop_status)?.offset;
        self.depth += 1;
        let file = self.file(file, &path);
        self.depth -= 1;
        let direct_attribute = block.dir.join("loop/dio");
        Some(LowerLayer::File {
            start,
            file: file.ok()?,
            direct: read_flag(&direct_attribute) == Some(true),
            direct_attribute,
        })
    }
}

impl LowerLayer {
    fn starting_at(self, offset: u64) -> Self {
        match self {
            Self::File {
                start,
                file,
                direct,
                direct_attribute,
            } => Self::File {
                start: start + offset,
                file,
                direct,
                direct_attribute,
            },
            other => other,
        }
    }
}

fn in_memory(file: File) -> StoredFile {
    StoredFile {
        residency: ResidencyMethod::detect(file.as_fd()).ok(),
        bypass: Bypass::None,
        mapping: Mapping::Seek,
        below: LowerLayer::Nothing.into(),
        readahead_bytes: 0,
        honors_sync: true,
        file,
    }
}

/// A file on an overlay whose layers are outside of this mount namespace. It has no cached pages
/// itself, but its mappings are those of the real file.
fn hidden_overlay(file: File) -> StoredFile {
    StoredFile {
        residency: Some(ResidencyMethod::Mincore),
        bypass: Bypass::All,
        mapping: Mapping::Fiemap { is_physical: false },
        below: LowerLayer::Disk.into(),
        readahead_bytes: DEFAULT_READAHEAD_BYTES,
        honors_sync: false,
        file,
    }
}

fn bypass(file: &File, filesystem: Option<&str>) -> Bypass {
    if filesystem != Some("btrfs") {
        // For example, with journaled data on ext4, the kernel uses the page cache instead.
        let has_direct_io =
            statx_direct_io(file).is_none_or(|found| found.stx_dio_offset_align > 0);
        return if has_direct_io {
            Bypass::All
        } else {
            Bypass::None
        };
    }
    let block_bytes = fstatfs(file)
        .ok()
        .and_then(|found| u64::try_from(found.f_bsize).ok());
    Bypass::Aligned(block_bytes.unwrap_or(BTRFS_BLOCK_BYTES).max(1))
}

/// Reopens the same file for reading.
fn reopen_noatime(file: &impl AsFd) -> io::Result<File> {
    open_noatime(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()).as_ref())
}

/// Opens a file for lookups, which must not change its access time: on a hung filesystem, mmap(2)
/// for mincore(2) would wait for the journal while holding a lock that blocks the whole process.
/// Only the file's owner may use O_NOATIME.
fn open_noatime(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NOATIME);
    options.open(path).or_else(|_| File::open(path))
}

/// The file in the upper or lower layer that an overlay shows; `None` if the layers are not
/// visible. Inode numbers do not identify this file, because a copied-up file keeps the inode
/// number of the lower file.
fn below_overlay(file: &File, path: &Path, host: &Inventory) -> Option<PathBuf> {
    let mount = host.mount_at(path)?;
    let relative = path.strip_prefix(&mount.point).ok()?;
    let length = file.metadata().ok()?.len();
    let mut layers = overlay_layers(&mount.options).into_iter();
    let found = layers.find_map(|layer| {
        let real = layer.join(relative);
        let stat = std::fs::symlink_metadata(&real).ok()?;
        stat.is_file().then_some((real, stat.len()))
    });
    let is_same = |(_, real_length): &(PathBuf, u64)| *real_length == length;
    found.filter(is_same).map(|(real, _)| real)
}

/// The directories that an overlay's mount options name, from top to bottom. The kernel escapes
/// spaces, commas and backslashes as octal numbers. `lowerdir` also has the backslashes with which
/// the mount command escaped colons and other characters (fs/overlayfs/params.c). Data-only layers,
/// which follow a double colon, show no files.
fn overlay_layers(options: &str) -> Vec<PathBuf> {
    let mut upper = Vec::new();
    let mut lower = Vec::new();
    for (name, value) in options
        .split(',')
        .filter_map(|option| option.split_once('='))
    {
        let value = unescape(value);
        match name {
            "upperdir" => upper.push(PathBuf::from(value)),
            "lowerdir+" => lower.push(PathBuf::from(value)),
            "lowerdir" => {
                let layers = value.split("::").next().unwrap_or_default();
                lower.extend(split_unescaped(layers, ':').map(without_backslashes));
            }
            _ => {}
        }
    }
    upper.extend(lower);
    upper
}

/// Splits at separators that no backslash precedes.
fn split_unescaped(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |c| {
        let is_end = c == separator && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })
}

fn without_backslashes(text: &str) -> PathBuf {
    let mut path = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        path.extend(if c == '\\' {
            characters.next()
        } else {
            Some(c)
        });
    }
    path.into()
}

/// An overlay mounted with `volatile` ignores syncs.
fn is_volatile(mount: &MountEntry) -> bool {
    mount
        .options
        .split(',')
        .any(|option| matches!(option, "volatile" | "fsync=volatile"))
}

fn readahead_bytes(dev: Dev) -> u64 {
    let kib: Option<u64> = value(format!("/sys/class/bdi/{dev}/read_ahead_kb"));
    kib.map_or(DEFAULT_READAHEAD_BYTES, |kib| {
        (kib << 10) * READAHEAD_WINDOWS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options are those that Linux 6.18 showed in /proc/self/mountinfo.
    #[test]
    fn layers_of_an_overlay_have_any_name() {
        let check = |options: &str, expected: &[&str]| {
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(overlay_layers(options), expected, "{options}");
        };
        check("rw,lowerdir=/l,upperdir=/u,workdir=/w", &["/u", "/l"]);
        check("rw,lowerdir=/a:/b:/c", &["/a", "/b", "/c"]);
        check(
            r"rw,lowerdir=l\134\040a\134\054b\134:c:l2\134\134x,upperdir=u\040p\054q:r,workdir=w",
            &["u p,q:r", "l a,b:c", r"l2\x"],
        );
        check(
            r"rw,lowerdir+=l\040a\054b:c,lowerdir+=l2\134x,upperdir=u\040p\054q:r,workdir=w",
            &["u p,q:r", "l a,b:c", r"l2\x"],
        );
        check("rw,lowerdir=/a:/b::/data", &["/a", "/b"]);
        check("rw", &[]);
    }
}
