//! Resolves the layers below targets, down to their disks.

use crate::system::{
    host::{
        access_time::open_noatime,
        block_device::{BlockDevice, SECTOR_BYTES},
        file::statx_direct_io,
        inventory::Inventory,
        ioctl::{device_block_bytes, filesystem_block_bytes, loop_status},
        kernel::{Dev, read_flag, value},
        overlay,
    },
    layers::{Bypass, LowerLayer, Mapping, StoredFile},
    probes::residency::ResidencyMethod,
};
use leadline_protocol::device::DeviceKind;
use rustix::{
    fs::{Mode, OFlags, fstatfs, open},
    param::page_size,
};
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::{
        fd::{AsFd, AsRawFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
    sync::Arc,
};

/// Maximum nesting depth of loop devices.
const MAX_DEPTH: u32 = 8;
/// Readahead extends at most two windows ahead, and a sequential hint doubles the window size.
const READAHEAD_WINDOWS: u64 = 4;
/// Used if the kernel does not report the size of the readahead window.
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

    /// `path`: the open file's or device's path, used to find its mount.
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
            Some(name) if MEMORY_FILESYSTEMS.contains(&name) => Ok(memory_file(file)),
            Some(overlay::FILESYSTEM) => match overlay::real_file(&self.host.mounts, path) {
                Some(real) => Ok(StoredFile {
                    honors_sync: !real.is_volatile,
                    ..self.file(open_for_lookup(&real.path)?, &real.path)?
                }),
                None => Ok(file_on_hidden_overlay(file)),
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
                cache_block_bytes: cap_at_page_size(filesystem_block_bytes(&file)),
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
            cache_block_bytes: cap_at_page_size(device_block_bytes(&file)),
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

    /// The combined layer of multiple devices; known only if all are disks or all are memory.
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
            DeviceKind::Dm | DeviceKind::Md => self.stacked_device(block),
            _ => LowerLayer::Disk.into(),
        };
        self.devices.insert(block.name.clone(), below.clone());
        below
    }

    /// A device whose mapping to its lower devices is unknown.
    fn stacked_device(&mut self, block: &BlockDevice) -> Arc<LowerLayer> {
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
                found.with_added_offset(sectors * SECTOR_BYTES).into()
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
        let file = open_for_lookup(&path).ok()?;
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
    fn with_added_offset(self, offset: u64) -> Self {
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

fn memory_file(file: File) -> StoredFile {
    StoredFile {
        residency: ResidencyMethod::detect(file.as_fd()).ok(),
        bypass: Bypass::None,
        mapping: Mapping::Seek,
        below: LowerLayer::Nothing.into(),
        readahead_bytes: 0,
        cache_block_bytes: cap_at_page_size(None),
        honors_sync: true,
        file,
    }
}

/// A file on an overlay whose layers are outside this mount namespace. Its pages are in the cache
/// of the real file, so only mincore(2), which uses a mapping of that file, can count them.
fn file_on_hidden_overlay(file: File) -> StoredFile {
    StoredFile {
        residency: Some(ResidencyMethod::Mincore),
        bypass: Bypass::All,
        mapping: Mapping::Fiemap { is_physical: false },
        below: LowerLayer::Disk.into(),
        readahead_bytes: DEFAULT_READAHEAD_BYTES,
        cache_block_bytes: cap_at_page_size(None),
        honors_sync: false,
        file,
    }
}

fn bypass(file: &File, filesystem: Option<&str>) -> Bypass {
    if filesystem != Some("btrfs") {
        // For example, if ext4 journals data, the kernel uses the page cache even for direct I/O.
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

fn cap_at_page_size(block_bytes: Option<u64>) -> u64 {
    let page = page_size() as u64;
    block_bytes.map_or(page, |bytes| bytes.clamp(1, page))
}

/// Reopens the same file for reading.
fn reopen_noatime(file: &impl AsFd) -> io::Result<File> {
    open_for_lookup(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()).as_ref())
}

/// Opens a file for lookups without changing its access time. Otherwise, on a hung filesystem,
/// mmap(2) for mincore(2) would wait for the journal while holding a lock that blocks the whole
/// process.
fn open_for_lookup(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = open_noatime(flags, |flags| open(path, flags, Mode::empty()))?;
    Ok(file.into())
}

fn readahead_bytes(dev: Dev) -> u64 {
    let kib: Option<u64> = value(format!("/sys/class/bdi/{dev}/read_ahead_kb"));
    kib.map_or(DEFAULT_READAHEAD_BYTES, |kib| {
        (kib << 10) * READAHEAD_WINDOWS
    })
}
