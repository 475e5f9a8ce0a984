//! The block devices and how they lie upon each other: disk → partition → dm, md, loop. From sysfs alone, which is
//! always there (no udev, no lsblk needed).
//!
//! Source: Documentation/ABI/stable/sysfs-block, drivers/block/loop.c. Not here: who uses them (`inventory`), what
//! they can do (`device`).

use crate::system::host::ioctl::{LoopStatus, loop_status};
use crate::system::host::kernel::{Dev, Kernel, attribute, flag, names, value};
use crate::system::host::resolved_path::Stat;
use leadline_protocol::host::DeviceKind;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// sysfs counts sizes in sectors of this many bytes, whatever the device's own are.
pub const SECTOR_BYTES: u64 = 512;
/// Since when `queue/iostats` is set by those whose I/Os are no requests, and heeded; until then it stands at 0 and means nothing
/// (kernel commits 526d10061bc2 and 10764815ff47).
const HEEDING_IOSTATS: &[(DeviceKind, (u32, u32))] =
    &[(DeviceKind::Dm, (6, 5)), (DeviceKind::Md, (5, 14))];

/// One block device, as far as the others need it.
#[derive(Clone, Debug)]
pub struct BlockDevice {
    /// Kernel name, such as `vda1`.
    pub name: String,
    /// Its own name among dm devices, such as `vg-home`.
    pub dm_name: Option<String>,
    /// Its number.
    pub dev: Dev,
    /// Its directory in sysfs.
    pub dir: PathBuf,
    /// What it is.
    pub kind: DeviceKind,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Whether the kernel refuses writes.
    pub read_only: bool,
    /// Whether the kernel counts its I/Os.
    pub is_counted: bool,
    /// The disk that it is a part of.
    pub part_of: Option<String>,
    /// Devices that it is made of (dm, md).
    pub slaves: Vec<String>,
    /// Devices that are made of it.
    pub holders: Vec<String>,
    /// The file behind a loop device in use.
    pub backing: Option<Backing>,
}

/// The file or device behind a loop device.
#[derive(Clone, Debug, PartialEq)]
pub struct Backing {
    /// Its path as the kernel tells it.
    pub path: String,
    /// Number of the filesystem that it lies on.
    pub on: Option<Dev>,
    /// Its inode number.
    pub inode: Option<u64>,
    /// Its own number, when it is a block device.
    pub device: Option<Dev>,
}

impl BlockDevice {
    /// Path of its node. `!` in a kernel name stands for `/`.
    pub fn path(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// Where its queue attributes are: a partition has those of its disk.
    pub fn queue(&self) -> PathBuf {
        queue(&self.dir)
    }

    fn read(kernel: &Kernel, name: String) -> Option<Self> {
        let dir = fs::canonicalize(kernel.sys.join("class/block").join(&name)).ok()?;
        if flag(dir.join("hidden")).unwrap_or(false) {
            return None;
        }
        let is_part = dir.join("partition").exists();
        let part_of = is_part
            .then(|| dir.parent()?.file_name()?.to_str().map(String::from))
            .flatten();
        let kind = kind(&name, &dir);
        Some(Self {
            dm_name: attribute(dir.join("dm/name")),
            dev: value(dir.join("dev"))?,
            kind,
            size_bytes: value::<u64>(dir.join("size"))
                .unwrap_or(0)
                .saturating_mul(SECTOR_BYTES),
            read_only: flag(dir.join("ro")).unwrap_or(false),
            is_counted: flag(queue(&dir).join("iostats")) != Some(false)
                || counts_always(kernel, kind),
            part_of,
            slaves: names(dir.join("slaves")),
            holders: names(dir.join("holders")),
            backing: Backing::read(&name, &dir),
            name,
            dir,
        })
    }
}

impl Backing {
    /// Whether it is this file.
    pub fn is_file(&self, stat: Stat) -> bool {
        self.on == Some(stat.dev) && self.inode == Some(stat.inode)
    }

    /// Whether it is what is behind an open loop device.
    pub fn is_behind(&self, node: impl AsFd) -> bool {
        loop_status(node).is_some_and(|status| {
            Self {
                path: self.path.clone(),
                ..Self::of(status)
            } == *self
        })
    }

    fn of(status: LoopStatus) -> Self {
        let device = (status.rdevice != 0).then_some(Dev(status.rdevice));
        Self {
            path: String::new(),
            on: Some(Dev(status.device)),
            inode: Some(status.inode),
            device,
        }
    }

    /// Asks the loop driver by ioctl, which is sure, and by name where that is not permitted.
    fn read(name: &str, dir: &Path) -> Option<Self> {
        let path = attribute(dir.join("loop/backing_file"))?;
        if let Some(status) = fs::File::open(Path::new("/dev").join(name))
            .ok()
            .and_then(loop_status)
        {
            return Some(Self {
                path,
                ..Self::of(status)
            });
        }
        let found = fs::metadata(&path).ok();
        let device = found
            .as_ref()
            .filter(|found| found.file_type().is_block_device())
            .map(|found| Dev(found.rdev()));
        Some(Self {
            path,
            on: found.as_ref().map(|found| Dev(found.dev())),
            inode: found.map(|found| found.ino()),
            device,
        })
    }
}

fn queue(dir: &Path) -> PathBuf {
    let own = dir.join("queue");
    if own.is_dir() {
        own
    } else {
        dir.join("../queue")
    }
}

/// Whether `queue/iostats` says nothing of it, and its I/Os are counted although it stands at 0.
fn counts_always(kernel: &Kernel, kind: DeviceKind) -> bool {
    let heeding = HEEDING_IOSTATS.iter().find(|(of, _)| *of == kind);
    heeding
        .zip(kernel.version())
        .is_some_and(|((_, since), version)| version < *since)
}

fn kind(name: &str, dir: &Path) -> DeviceKind {
    let has = |entry: &str| dir.join(entry).exists();
    if has("partition") {
        DeviceKind::Partition
    } else if name.starts_with("loop") {
        DeviceKind::Loop
    } else if has("dm") {
        DeviceKind::Dm
    } else if has("md") {
        DeviceKind::Md
    } else if name.starts_with("zram") {
        DeviceKind::Zram
    } else if name.starts_with("ram") {
        DeviceKind::Ram
    } else if name.starts_with("sr") {
        DeviceKind::Rom
    } else if has("device") {
        DeviceKind::Disk
    } else {
        DeviceKind::Other
    }
}

/// All block devices by kernel name, those without node or number left out.
pub fn blocks(kernel: &Kernel) -> BTreeMap<String, BlockDevice> {
    let all = names(kernel.sys.join("class/block"))
        .into_iter()
        .filter_map(|name| BlockDevice::read(kernel, name));
    all.map(|block| (block.name.clone(), block)).collect()
}
