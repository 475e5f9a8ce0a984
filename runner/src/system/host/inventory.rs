//! One look at the host's block devices, mounts and swaps together: what lies on what, and who uses it. The list of
//! devices, the guard and the probes all answer from it, so they cannot disagree.
//!
//! Not here: whether a use forbids anything (`guard`).

#[cfg(test)]
pub(crate) mod tests;

use crate::system::host::block_device::{Backing, BlockDevice, blocks};
use crate::system::host::file::mount_id;
use crate::system::host::kernel::{Dev, Kernel, names};
use crate::system::host::mounts::{MountEntry, mounts, swaps};
use crate::system::host::resolved_path::ResolvedPath;
use leadline_protocol::host::DeviceKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Everything about block devices that one look shows.
#[derive(Clone, Debug)]
pub struct Inventory {
    /// The devices by kernel name.
    pub blocks: BTreeMap<String, BlockDevice>,
    /// The mounts of every visible namespace.
    pub mounts: Vec<MountEntry>,
    /// Paths of the devices and files that are swapped to.
    pub swaps: Vec<String>,
    /// The members of each mounted btrfs, by kernel name.
    pub pools: Vec<Vec<String>>,
}

/// One way in which a device is used.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    /// A filesystem on it is mounted, perhaps in another mount namespace, in which this process lives.
    Mounted {
        point: String,
        filesystem: String,
        elsewhere: Option<u32>,
    },
    /// It is swapped to.
    Swap,
    /// A dm or md device is made of it.
    Holder(String),
    /// It is one of the members of a mounted btrfs.
    Member { point: String },
    /// A part of it is used.
    Partition { name: String, by: Box<Use> },
    /// A loop device lies on it.
    BacksLoop(String),
    /// Another loop device has the same file behind it.
    SharesFile(String),
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted {
                point,
                filesystem,
                elsewhere: None,
            } => write!(f, "mounted at {point} ({filesystem})"),
            Self::Mounted {
                point,
                filesystem,
                elsewhere: Some(pid),
            } => {
                write!(
                    f,
                    "mounted at {point} ({filesystem}) in the mount namespace of process {pid}"
                )
            }
            Self::Swap => f.write_str("swap"),
            Self::Holder(name) => write!(f, "part of {name}"),
            Self::Member { point } => write!(f, "member of the btrfs mounted at {point}"),
            Self::Partition { name, by } => write!(f, "its partition {name}: {by}"),
            Self::BacksLoop(name) => write!(f, "behind {name}"),
            Self::SharesFile(name) => write!(f, "its file is also behind {name}"),
        }
    }
}

impl Inventory {
    /// Looks now.
    pub fn read(kernel: &Kernel) -> Self {
        Self {
            blocks: blocks(kernel),
            mounts: mounts(kernel),
            swaps: swaps(kernel),
            pools: pools(kernel),
        }
    }

    /// The device of a number.
    pub fn by_dev(&self, dev: Dev) -> Option<&BlockDevice> {
        self.blocks.values().find(|block| block.dev == dev)
    }

    /// The mount that a path of our own namespace lies on: by its number, since the subvolumes of a btrfs have a
    /// `st_dev` of their own each.
    pub fn mount_at(&self, path: &Path) -> Option<&MountEntry> {
        let id = mount_id(path)?;
        self.mounts
            .iter()
            .find(|mount| mount.id == id && mount.elsewhere.is_none())
    }

    /// The device under the file behind a loop device: by the number of its filesystem, or by its mount where that is
    /// anonymous.
    fn under_file(&self, backing: &Backing) -> Option<&BlockDevice> {
        let by_number = backing.on.and_then(|on| self.by_dev(on));
        let is_seen = || {
            ResolvedPath::find(Path::new(&backing.path))
                .stat
                .is_some_and(|stat| backing.is_file(stat))
        };
        by_number.or_else(|| {
            self.mounted_device(
                self.mount_at(Path::new(&backing.path))
                    .filter(|_| is_seen())?,
            )
        })
    }

    /// The device that a mount shows.
    pub fn mounted_device(&self, mount: &MountEntry) -> Option<&BlockDevice> {
        if !mount.dev.is_anonymous() {
            return self.by_dev(mount.dev);
        }
        mount
            .source
            .starts_with("/dev/")
            .then(|| self.by_node(&mount.source))
            .flatten()
    }

    /// The device of a node: by its number, or by its name where the node cannot be seen.
    fn by_node(&self, path: &str) -> Option<&BlockDevice> {
        let by_number = std::fs::metadata(path)
            .ok()
            .and_then(|found| self.by_dev(Dev(found.rdev())));
        by_number.or_else(|| self.blocks.get(Path::new(path).file_name()?.to_str()?))
    }

    /// The devices that one lies directly on; none for a whole disk.
    pub fn parents(&self, block: &BlockDevice) -> Vec<&BlockDevice> {
        if let Some(disk) = &block.part_of {
            return self.blocks.get(disk).into_iter().collect();
        }
        if let Some(backing) = &block.backing {
            let under = match backing.device {
                Some(device) => self.by_dev(device),
                None => self.under_file(backing),
            };
            return under.into_iter().collect();
        }
        block
            .slaves
            .iter()
            .filter_map(|name| self.blocks.get(name))
            .collect()
    }

    /// All devices that one lies on, directly or not, itself among them; none where it is not known.
    pub fn beneath(&self, name: &str) -> BTreeSet<String> {
        let (mut beneath, mut open) = (BTreeSet::new(), vec![name.to_string()]);
        while let Some(name) = open.pop() {
            let Some(block) = self.blocks.get(&name).filter(|_| beneath.insert(name)) else {
                continue;
            };
            open.extend(self.parents(block).iter().map(|parent| parent.name.clone()));
        }
        beneath
    }

    /// The physical devices under one, itself where nothing is under it. Sorted, each once.
    pub fn physical_devices(&self, name: &str) -> Vec<String> {
        let lies_on_none = |name: &String| self.parents(&self.blocks[name]).is_empty();
        self.beneath(name)
            .into_iter()
            .filter(lies_on_none)
            .collect()
    }

    /// The devices that one filesystem spreads over: the members of a btrfs, else only the one.
    pub fn spread(&self, name: &str) -> Vec<String> {
        let pool = self
            .pools
            .iter()
            .find(|pool| pool.iter().any(|member| member == name));
        pool.cloned().unwrap_or_else(|| vec![name.into()])
    }

    /// Where a device is mounted, each point once.
    pub fn mounts_of(&self, block: &BlockDevice) -> Vec<&MountEntry> {
        let mut points = BTreeSet::new();
        let here = self.mounts.iter().filter(|mount| {
            self.mounted_device(mount)
                .is_some_and(|found| found.name == block.name)
        });
        here.filter(|mount| points.insert((&mount.point, mount.elsewhere.is_some())))
            .collect()
    }

    /// Everything that uses a device, its partitions included.
    pub fn uses(&self, block: &BlockDevice) -> Vec<Use> {
        let mut uses = self.own_uses(block);
        for part in self
            .blocks
            .values()
            .filter(|part| part.part_of.as_ref() == Some(&block.name))
        {
            uses.extend(self.own_uses(part).into_iter().map(|by| Use::Partition {
                name: part.name.clone(),
                by: by.into(),
            }));
        }
        uses
    }

    fn own_uses(&self, block: &BlockDevice) -> Vec<Use> {
        let mut uses: Vec<Use> = self.mounts_of(block).into_iter().map(mounted).collect();
        uses.extend(self.membership(block).filter(|_| uses.is_empty()));
        uses.extend(
            self.swaps
                .iter()
                .filter(|path| self.is_node_of(path, block))
                .map(|_| Use::Swap),
        );
        uses.extend(
            block
                .holders
                .iter()
                .map(|holder| Use::Holder(self.holder_name(holder))),
        );
        uses.extend(
            self.loops()
                .filter(|other| {
                    other
                        .backing
                        .as_ref()
                        .is_some_and(|b| b.device == Some(block.dev))
                })
                .map(|l| Use::BacksLoop(l.name.clone())),
        );
        uses.extend(
            self.loops()
                .filter(|other| other.name != block.name && shares_file(block, other))
                .map(|l| Use::SharesFile(l.name.clone())),
        );
        uses
    }

    fn is_node_of(&self, path: &str, block: &BlockDevice) -> bool {
        path.starts_with("/dev/")
            && self
                .by_node(path)
                .is_some_and(|found| found.name == block.name)
    }

    fn membership(&self, block: &BlockDevice) -> Option<Use> {
        let pool = self.pools.iter().find(|pool| pool.contains(&block.name))?;
        let mount = self.mounts.iter().find(|mount| {
            self.mounted_device(mount)
                .is_some_and(|found| pool.contains(&found.name))
        });
        Some(Use::Member {
            point: mount.map_or_else(
                || "a place out of sight".into(),
                |mount| mount.point.clone(),
            ),
        })
    }

    /// A holder as people know it: dm devices with their own name beside the kernel's.
    fn holder_name(&self, name: &str) -> String {
        let own = self
            .blocks
            .get(name)
            .and_then(|block| block.dm_name.as_ref());
        own.map_or_else(|| name.to_string(), |own| format!("{name} ({own})"))
    }

    /// The loop devices in use.
    pub fn loops(&self) -> impl Iterator<Item = &BlockDevice> {
        self.blocks
            .values()
            .filter(|block| block.kind == DeviceKind::Loop && block.backing.is_some())
    }
}

fn mounted(mount: &MountEntry) -> Use {
    Use::Mounted {
        point: mount.point.clone(),
        filesystem: mount.filesystem.clone(),
        elsewhere: mount.elsewhere,
    }
}

fn shares_file(one: &BlockDevice, other: &BlockDevice) -> bool {
    let (Some(one), Some(other)) = (&one.backing, &other.backing) else {
        return false;
    };
    one.path == other.path
        || (one.on == other.on && one.inode.is_some() && one.inode == other.inode)
}

/// The members of each mounted btrfs (`/sys/fs/btrfs/UUID/devices`).
fn pools(kernel: &Kernel) -> Vec<Vec<String>> {
    let root = kernel.sys.join("fs/btrfs");
    names(&root)
        .into_iter()
        .map(|uuid| names(root.join(uuid).join("devices")))
        .filter(|members| !members.is_empty())
        .collect()
}
