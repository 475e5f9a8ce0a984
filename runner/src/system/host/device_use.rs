//! Who uses a block device: mounts, swap, dm and md devices, btrfs pools, partitions and loop
//! devices.

use crate::system::host::{block_device::BlockDevice, inventory::Inventory};
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Use {
    Mounted {
        point: String,
        filesystem: String,
        /// A process in the mount namespace; `None` for this process's own.
        namespace_of: Option<u32>,
    },
    Swap,
    /// Part of a dm or md device.
    Holder(String),
    /// Member of a mounted btrfs.
    Member {
        point: String,
    },
    Partition {
        name: String,
        used_by: Box<Use>,
    },
    /// A loop device is attached to it.
    BacksLoop(String),
    /// Another loop device is attached to the same file.
    SharesFile(String),
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
            Self::Holder(name) => write!(f, "part of {name}"),
            Self::Member { point } => {
                write!(f, "member of the btrfs filesystem mounted at {point}")
            }
            Self::Partition { name, used_by } => write!(f, "its partition {name}: {used_by}"),
            Self::BacksLoop(name) => write!(f, "backing device of {name}"),
            Self::SharesFile(name) => write!(f, "its backing file is also attached to {name}"),
        }
    }
}

impl Inventory {
    /// All uses of a device and of its partitions.
    pub(crate) fn uses(&self, block: &BlockDevice) -> Vec<Use> {
        let mut uses = self.own_uses(block);
        for part in self.blocks.values() {
            if part.disk.as_ref() != Some(&block.name) {
                continue;
            }
            let part_uses = self.own_uses(part).into_iter();
            uses.extend(part_uses.map(|used_by| Use::Partition {
                name: part.name.clone(),
                used_by: used_by.into(),
            }));
        }
        uses
    }

    fn own_uses(&self, block: &BlockDevice) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        for mount in self.mounts_of(block) {
            uses.push(Use::Mounted {
                point: mount.point.clone(),
                filesystem: mount.filesystem.clone(),
                namespace_of: mount.namespace_of,
            });
        }
        if uses.is_empty() {
            uses.extend(self.btrfs_membership(block));
        }
        if self.swaps.iter().any(|path| self.is_node_of(path, block)) {
            uses.push(Use::Swap);
        }
        for holder in &block.holders {
            uses.push(Use::Holder(self.display_name(holder)));
        }
        for other in self.loops() {
            let is_backing =
                (other.backing.as_ref()).is_some_and(|file| file.device == Some(block.dev));
            if is_backing {
                uses.push(Use::BacksLoop(other.name.clone()));
            }
            if other.name != block.name && shares_file(block, other) {
                uses.push(Use::SharesFile(other.name.clone()));
            }
        }
        uses
    }

    fn is_node_of(&self, path: &str, block: &BlockDevice) -> bool {
        let found = self.by_node(path);
        path.starts_with("/dev/") && found.is_some_and(|found| found.name == block.name)
    }

    fn btrfs_membership(&self, block: &BlockDevice) -> Option<Use> {
        let pool = self.pools.iter().find(|pool| pool.contains(&block.name))?;
        let mount = self.mounts.iter().find(|mount| {
            let device = self.mounted_device(mount);
            device.is_some_and(|device| pool.contains(&device.name))
        });
        let point = mount.map_or("an unknown path", |mount| mount.point.as_str());
        Some(Use::Member {
            point: point.into(),
        })
    }

    /// Kernel name, followed by the dm name for dm devices.
    fn display_name(&self, name: &str) -> String {
        let dm_name = (self.blocks.get(name)).and_then(|block| block.dm_name.as_ref());
        match dm_name {
            Some(dm_name) => format!("{name} ({dm_name})"),
            None => name.into(),
        }
    }
}

fn shares_file(one: &BlockDevice, other: &BlockDevice) -> bool {
    let (Some(one), Some(other)) = (&one.backing, &other.backing) else {
        return false;
    };
    let is_same_inode =
        one.inode.is_some() && (one.filesystem, one.inode) == (other.filesystem, other.inode);
    one.path == other.path || is_same_inode
}
