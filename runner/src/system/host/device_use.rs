//! Determines what uses a block device: mounts, swap, dm and md devices, btrfs pools, partitions
//! and loop devices.

use crate::system::host::{
    block_device::{Backing, BlockDevice},
    file_identity::SameFile,
    inventory::Inventory,
    kernel::Dev,
};
use leadline_protocol::{device::DeviceKind, text::printable};
use std::{fmt, fs, os::unix::fs::MetadataExt};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Use {
    Mounted {
        point: String,
        filesystem: String,
        /// ID of a process in the mount namespace; `None` for this process's namespace.
        namespace_of: Option<u32>,
    },
    Swap,
    /// Part of a dm or md device.
    Holder(String),
    /// Member of a mounted btrfs filesystem.
    Member {
        point: String,
    },
    Partition {
        name: String,
        used_by: Box<Use>,
    },
    /// A lower device, which a write would also change.
    Lower {
        name: String,
        used_by: Box<Use>,
    },
    /// A loop device is attached to this device.
    BacksLoop(String),
    /// Another loop device is attached to the same file.
    SharesFile(String),
    /// Another loop device may be attached to the same file.
    MayShareFile(String),
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted {
                point,
                filesystem,
                namespace_of,
            } => {
                write!(f, "mounted at {point} ({filesystem})")?;
                match namespace_of {
                    Some(pid) => write!(f, " in the mount namespace of process {pid}"),
                    None => Ok(()),
                }
            }
            Self::Swap => f.write_str("swap"),
            Self::Holder(name) => write!(f, "part of {}", printable(name)),
            Self::Member { point } => {
                write!(f, "member of the btrfs filesystem mounted at {point}")
            }
            Self::Partition { name, used_by } => {
                write!(f, "its partition {}: {used_by}", printable(name))
            }
            Self::Lower { name, used_by } => {
                write!(f, "its lower device {}: {used_by}", printable(name))
            }
            Self::BacksLoop(name) => write!(f, "backing device of {}", printable(name)),
            Self::SharesFile(name) => {
                write!(
                    f,
                    "its backing file is also attached to {}",
                    printable(name)
                )
            }
            Self::MayShareFile(name) => {
                write!(
                    f,
                    "its backing file may be the same as that of {}: one of the files is on overlayfs or FUSE, which can expose the other",
                    printable(name)
                )
            }
        }
    }
}

impl Inventory {
    /// All uses of a device, its partitions, and the devices below it.
    pub(crate) fn uses(&self, block: &BlockDevice) -> Vec<Use> {
        let mut uses = self.uses_including_partitions(block, None);
        uses.extend(self.lower_uses(block));
        uses
    }

    /// Uses of a device and of its partitions, except by `upper`.
    fn uses_including_partitions(
        &self,
        block: &BlockDevice,
        upper: Option<&BlockDevice>,
    ) -> Vec<Use> {
        let mut uses = self.direct_uses(block, upper);
        for part in self.partitions(block) {
            let part_uses = self.direct_uses(part, None).into_iter();
            uses.extend(part_uses.map(|used_by| Use::Partition {
                name: part.name.clone(),
                used_by: used_by.into(),
            }));
        }
        uses
    }

    /// Uses of the lower devices, except by the devices in between. An exclusive open does not
    /// detect all of these uses, because loop devices do not claim their backing device.
    fn lower_uses(&self, block: &BlockDevice) -> Vec<Use> {
        let mut uses = Vec::new();
        for upper in self.changed_devices(block) {
            for lower in self.directly_changed(upper) {
                let lower_uses = if upper.disk.is_some() {
                    // Skip other partitions, which do not share bytes with this one.
                    self.direct_uses(lower, Some(upper))
                } else {
                    self.uses_including_partitions(lower, Some(upper))
                };
                uses.extend(lower_uses.into_iter().map(|used_by| Use::Lower {
                    name: lower.name.clone(),
                    used_by: used_by.into(),
                }));
            }
        }
        uses
    }

    /// The devices through which other processes can change or lock a device's bytes, even if it is
    /// claimed: the device itself, its partitions or disk, and the backing devices of loop devices.
    /// Excludes the members of dm and md devices, because the kernel claims them, and because
    /// programs that manage them (mdmon) write their metadata.
    pub(crate) fn shared_devices<'a>(&'a self, block: &'a BlockDevice) -> Vec<&'a BlockDevice> {
        let mut shared = vec![block];
        shared.extend(self.partitions(block));
        for upper in self.changed_devices(block) {
            if !upper.slaves.is_empty() {
                continue;
            }
            for lower in self.directly_changed(upper) {
                shared.push(lower);
                // Skip other partitions, which do not share bytes with this one.
                if upper.disk.is_none() {
                    shared.extend(self.partitions(lower));
                }
            }
        }
        shared
    }

    fn partitions<'a>(&'a self, disk: &'a BlockDevice) -> impl Iterator<Item = &'a BlockDevice> {
        let blocks = self.blocks.values();
        blocks.filter(move |block| block.disk.as_ref() == Some(&disk.name))
    }

    /// The devices that a write to a device changes: the device itself and all lower devices.
    pub(crate) fn changed_devices<'a>(&'a self, block: &'a BlockDevice) -> Vec<&'a BlockDevice> {
        let mut changed = vec![block];
        let mut next = 0;
        while let Some(upper) = changed.get(next) {
            for lower in self.directly_changed(upper) {
                if changed.iter().all(|known| known.name != lower.name) {
                    changed.push(lower);
                }
            }
            next += 1;
        }
        changed
    }

    /// The devices directly below a device that a write to it changes. Excludes the device that
    /// stores a loop device's backing file, because the filesystem uses its other blocks for other
    /// files.
    fn directly_changed(&self, block: &BlockDevice) -> Vec<&BlockDevice> {
        match &block.backing {
            Some(Backing { device: None, .. }) => Vec::new(),
            _ => self.parents(block),
        }
    }

    /// `upper`: a device that does not count as a use, because the write to it is being checked.
    fn direct_uses(&self, block: &BlockDevice, upper: Option<&BlockDevice>) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        for mount in self.mounts_of(block) {
            uses.push(Use::Mounted {
                point: printable(&mount.point),
                filesystem: printable(&mount.filesystem),
                namespace_of: mount.namespace_of,
            });
        }
        if uses.is_empty() {
            uses.extend(self.btrfs_membership(block));
        }
        if self.swaps.iter().any(|path| self.is_node_of(path, block)) {
            uses.push(Use::Swap);
        }
        let holders = (block.holders.iter()).filter(|name| !self.is_excluded(name, upper));
        uses.extend(holders.map(|name| Use::Holder(self.display_name(name))));
        for other in self.loops() {
            let is_upper = upper.is_some_and(|upper| upper.name == other.name);
            let is_backing =
                (other.backing.as_ref()).is_some_and(|file| file.device == Some(block.dev));
            if is_backing && !is_upper {
                uses.push(Use::BacksLoop(other.name.clone()));
            }
            uses.extend(self.shared_file_use(block, other));
        }
        uses
    }

    /// Whether a holder does not count as a use: it is `upper` itself, or both are dm devices. For
    /// example, another logical volume uses different bytes of the device.
    fn is_excluded(&self, holder: &str, upper: Option<&BlockDevice>) -> bool {
        let is_dm = |name: &str| {
            let block = self.blocks.get(name);
            block.is_some_and(|block| block.kind == DeviceKind::Dm)
        };
        upper.is_some_and(|upper| {
            upper.name == holder || (upper.kind == DeviceKind::Dm && is_dm(holder))
        })
    }

    fn is_node_of(&self, path: &str, block: &BlockDevice) -> bool {
        let number = fs::metadata(path).map(|node| node.rdev());
        let is_other_node = number.is_ok_and(|number| Dev(number) == block.dev);
        let found = self.by_node(path).filter(|_| path.starts_with("/dev/"));
        is_other_node || found.is_some_and(|found| found.name == block.name)
    }

    fn shared_file_use(&self, block: &BlockDevice, other: &BlockDevice) -> Option<Use> {
        if block.name == other.name {
            return None;
        }
        let same = self
            .backing_identity(block)?
            .compare(&self.backing_identity(other)?)?;
        let name = other.name.clone();
        let is_identified = |block: &BlockDevice| {
            let backing = block.backing.as_ref();
            backing.is_some_and(|backing| backing.is_identified)
        };
        match same {
            SameFile::Yes => Some(Use::SharesFile(name)),
            // Without access to the devices, only the lengths of the two files can be compared.
            SameFile::Possibly if is_identified(block) && is_identified(other) => {
                Some(Use::MayShareFile(name))
            }
            SameFile::Possibly => None,
        }
    }

    fn btrfs_membership(&self, block: &BlockDevice) -> Option<Use> {
        let pool = self.pools.iter().find(|pool| pool.contains(&block.name))?;
        let mount = self.mounts.iter().find(|mount| {
            let device = self.mounted_device(mount);
            device.is_some_and(|device| pool.contains(&device.name))
        });
        let point = mount.map_or("an unknown path", |mount| mount.point.as_str());
        Some(Use::Member {
            point: printable(point),
        })
    }

    /// Kernel name, followed by the device-mapper name for dm devices.
    fn display_name(&self, name: &str) -> String {
        let dm_name = (self.blocks.get(name)).and_then(|block| block.dm_name.as_ref());
        match dm_name {
            Some(dm_name) => format!("{name} ({dm_name})"),
            None => name.into(),
        }
    }
}
