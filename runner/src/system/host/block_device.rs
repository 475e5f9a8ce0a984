//! Block devices and how they are stacked (disk → partition → dm, md, loop). Uses only sysfs, not
//! udev or lsblk. Sources: Documentation/ABI/stable/sysfs-block, drivers/block/loop.c.

use crate::system::host::{
    ioctl::{LoopStatus, loop_status},
    kernel::{Dev, Kernel, attribute, names, read_flag, value},
    resolved_path::Stat,
};
use leadline_protocol::device::DeviceKind;
use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
    path::{Path, PathBuf},
};

/// Unit of sizes in sysfs, regardless of the device's sector size.
pub(crate) const SECTOR_BYTES: u64 = 512;
/// First kernel versions whose bio-based drivers honor `queue/iostats` (commits 526d10061bc2 and
/// 10764815ff47). In older kernels, it is always 0 for these drivers. zram counts I/Os regardless
/// of it (`bio_start_io_acct` in drivers/block/zram/zram_drv.c).
const IOSTATS_SINCE: &[(DeviceKind, (u32, u32))] = &[
    (DeviceKind::Dm, (6, 5)),
    (DeviceKind::Md, (5, 14)),
    (DeviceKind::Zram, (u32::MAX, 0)),
];

#[derive(Clone, Debug)]
pub(crate) struct BlockDevice {
    /// Kernel name, such as `vda1`.
    pub name: String,
    /// Device-mapper name, such as `vg-home`.
    pub dm_name: Option<String>,
    pub dev: Dev,
    /// Device directory in sysfs.
    pub dir: PathBuf,
    pub kind: DeviceKind,
    pub size_bytes: u64,
    pub read_only: bool,
    /// Whether the kernel counts the device's I/Os.
    pub has_iostats: bool,
    /// Kernel name of the disk, for a partition.
    pub disk: Option<String>,
    /// Devices below a dm or md device.
    pub slaves: Vec<String>,
    /// dm and md devices built on this device.
    pub holders: Vec<String>,
    /// Set for an attached loop device.
    pub backing: Option<Backing>,
}

/// The file or device that a loop device is attached to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Backing {
    /// Path as shown in sysfs.
    pub path: String,
    /// `st_dev` of the file.
    pub filesystem: Option<Dev>,
    pub inode: Option<u64>,
    /// Device number of the backing device; `None` for a file.
    pub device: Option<Dev>,
    /// Whether the loop driver identified the file. If not, a different file may be at `path`,
    /// because the path may be from another mount namespace.
    pub is_identified: bool,
    /// Offset of the device's first byte in the file, in bytes.
    pub offset: u64,
}

impl BlockDevice {
    /// Path of the device node. A `!` in the kernel name stands for `/`.
    pub(crate) fn path(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// Directory of the queue attributes. A partition uses its disk's queue.
    pub(crate) fn queue(&self) -> PathBuf {
        queue(&self.dir)
    }

    fn read(kernel: &Kernel, name: String) -> Option<Self> {
        let dir = fs::canonicalize(kernel.sys.join("class/block").join(&name)).ok()?;
        if read_flag(dir.join("hidden")) == Some(true) {
            return None;
        }
        let kind = kind(&name, &dir);
        let disk = match kind {
            DeviceKind::Partition => Some(dir.parent()?.file_name()?.to_str()?.to_string()),
            _ => None,
        };
        let iostats = read_flag(queue(&dir).join("iostats"));
        let sectors: u64 = value(dir.join("size")).unwrap_or(0);
        Some(Self {
            dm_name: attribute(dir.join("dm/name")),
            dev: value(dir.join("dev"))?,
            kind,
            size_bytes: sectors.saturating_mul(SECTOR_BYTES),
            read_only: read_flag(dir.join("ro")).unwrap_or(false),
            has_iostats: iostats != Some(false) || ignores_iostats(kernel, kind),
            disk,
            slaves: names(dir.join("slaves")),
            holders: names(dir.join("holders")),
            backing: Backing::read(&name, &dir),
            name,
            dir,
        })
    }
}

impl Backing {
    pub(crate) fn is_file(&self, stat: Stat) -> bool {
        self.filesystem == Some(stat.dev) && self.inode == Some(stat.inode)
    }

    /// Returns true if the open loop device `node` is currently attached to this file or device.
    pub(crate) fn is_attached_to(&self, node: impl AsFd) -> bool {
        loop_status(node).is_some_and(|status| Self::of(self.path.clone(), status) == *self)
    }

    fn of(path: String, status: LoopStatus) -> Self {
        Self {
            path,
            filesystem: Some(Dev(status.device)),
            inode: Some(status.inode),
            device: (status.rdevice != 0).then_some(Dev(status.rdevice)),
            is_identified: true,
            offset: status.offset,
        }
    }

    /// Uses the loop driver's ioctl, or the path in sysfs if the device cannot be opened.
    fn read(name: &str, dir: &Path) -> Option<Self> {
        let attached_file = || attribute(dir.join("loop/backing_file"));
        let path = attached_file()?;
        let node = File::open(Path::new("/dev").join(name));
        if let Some(status) = node.ok().and_then(loop_status) {
            return Some(Self::of(path, status));
        }
        // The ioctl also fails if the device was detached after its path was read.
        if attached_file().as_ref() != Some(&path) {
            return None;
        }
        let metadata = fs::metadata(&path).ok();
        let metadata = metadata.as_ref();
        Some(Self {
            filesystem: metadata.map(|file| Dev(file.dev())),
            inode: metadata.map(|file| file.ino()),
            device: metadata
                .filter(|file| file.file_type().is_block_device())
                .map(|file| Dev(file.rdev())),
            is_identified: false,
            offset: value(dir.join("loop/offset")).unwrap_or(0),
            path,
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

fn ignores_iostats(kernel: &Kernel, kind: DeviceKind) -> bool {
    let since = IOSTATS_SINCE.iter().find(|(of, _)| *of == kind);
    let version = kernel.version();
    since.is_some_and(|(_, since)| version.is_some_and(|version| version < *since))
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

/// All block devices that have a device number, keyed by kernel name.
pub(crate) fn block_devices(kernel: &Kernel) -> BTreeMap<String, BlockDevice> {
    names(kernel.sys.join("class/block"))
        .into_iter()
        .filter_map(|name| BlockDevice::read(kernel, name))
        .map(|block| (block.name.clone(), block))
        .collect()
}
