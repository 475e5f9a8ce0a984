//! A snapshot of the host's block devices and how they are stacked, its mounts and its swap areas.
//! The device list, the guard and the probes all use it, so their results are consistent.
//! `device_use` determines the users of a device.

#[cfg(test)]
mod tests;

use crate::system::host::{
    block_device::{Backing, BlockDevice, block_devices},
    kernel::{Dev, Kernel, names},
    mounts::{MountEntry, mount_at, mounts, swaps},
    overlay,
    resolved_path::ResolvedPath,
};
use leadline_protocol::device::DeviceKind;
use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::MetadataExt,
    path::Path,
};

#[derive(Clone, Debug)]
pub(crate) struct Inventory {
    /// Keyed by kernel name.
    pub blocks: BTreeMap<String, BlockDevice>,
    /// Mounts in all visible mount namespaces.
    pub mounts: Vec<MountEntry>,
    /// Paths of swap devices and swap files.
    pub swaps: Vec<String>,
    /// Members of each mounted btrfs filesystem, by kernel name.
    pub pools: Vec<Vec<String>>,
}

impl Inventory {
    pub(crate) fn read(kernel: &Kernel) -> Self {
        Self {
            blocks: block_devices(kernel),
            mounts: mounts(kernel),
            swaps: swaps(kernel),
            pools: pools(kernel),
        }
    }

    pub(crate) fn by_dev(&self, dev: Dev) -> Option<&BlockDevice> {
        self.blocks.values().find(|block| block.dev == dev)
    }

    /// The mount that contains a path in this mount namespace.
    pub(crate) fn mount_at(&self, path: &Path) -> Option<&MountEntry> {
        mount_at(&self.mounts, path)
    }

    /// The device that stores a backing file, found by its filesystem's device number or, if that
    /// number is anonymous, by its mount.
    fn device_of_file(&self, backing: &Backing) -> Option<&BlockDevice> {
        if let Some(block) = backing.filesystem.and_then(|dev| self.by_dev(dev)) {
            return Some(block);
        }
        let path = Path::new(&backing.path);
        let stat = ResolvedPath::find(path).stat?;
        if !backing.is_file(stat) {
            return None;
        }
        self.device_at(path)
    }

    /// The device that stores a file or directory in this mount namespace.
    pub(crate) fn device_at(&self, path: &Path) -> Option<&BlockDevice> {
        let mount = self.mount_at(path)?;
        match mount.filesystem.as_str() {
            overlay::FILESYSTEM => self.device_below_overlay(mount, path),
            _ => self.mounted_device(mount),
        }
    }

    /// `None` if the layers are not visible, or if the first write copies the file up to another
    /// device.
    fn device_below_overlay(&self, mount: &MountEntry, path: &Path) -> Option<&BlockDevice> {
        let on_device = |path: &Path| self.mounted_device(self.mount_at(path)?);
        let upper = overlay::upper_layer(mount);
        let written = upper.as_deref().and_then(on_device);
        if path.is_dir() {
            return written;
        }
        let read = on_device(&overlay::real_file(&self.mounts, path)?.path)?;
        let is_same = written.is_some_and(|written| written.name == read.name);
        (is_same || upper.is_none()).then_some(read)
    }

    pub(crate) fn mounted_device(&self, mount: &MountEntry) -> Option<&BlockDevice> {
        if !mount.dev.is_anonymous() {
            return self.by_dev(mount.dev);
        }
        let is_node = mount.source.starts_with("/dev/");
        is_node.then(|| self.by_node(&mount.source)).flatten()
    }

    /// Looks up a device by its node's device number, or by its name if the node is not visible.
    pub(crate) fn by_node(&self, path: &str) -> Option<&BlockDevice> {
        let metadata = std::fs::metadata(path).ok();
        metadata
            .and_then(|metadata| self.by_dev(Dev(metadata.rdev())))
            .or_else(|| self.blocks.get(Path::new(path).file_name()?.to_str()?))
    }

    /// The devices directly below a device; empty for a disk.
    pub(crate) fn parents(&self, block: &BlockDevice) -> Vec<&BlockDevice> {
        if let Some(disk) = &block.disk {
            return self.blocks.get(disk).into_iter().collect();
        }
        if let Some(backing) = &block.backing {
            let lower = match backing.device {
                Some(device) => self.by_dev(device),
                None => self.device_of_file(backing),
            };
            return lower.into_iter().collect();
        }
        let slaves = block.slaves.iter();
        slaves.filter_map(|name| self.blocks.get(name)).collect()
    }

    /// All devices below a device, and the device itself; empty for an unknown name.
    pub(crate) fn lower_devices(&self, name: &str) -> BTreeSet<String> {
        let mut lower = BTreeSet::new();
        let mut open = vec![name.to_string()];
        while let Some(name) = open.pop() {
            let Some(block) = self.blocks.get(&name) else {
                continue;
            };
            if lower.insert(name) {
                open.extend(self.parents(block).iter().map(|parent| parent.name.clone()));
            }
        }
        lower
    }

    /// The lowest devices below a device, or the device itself. Sorted.
    pub(crate) fn physical_devices(&self, name: &str) -> Vec<String> {
        let mut lower = self.lower_devices(name);
        lower.retain(|name| self.parents(&self.blocks[name]).is_empty());
        lower.into_iter().collect()
    }

    /// Members of the btrfs filesystem on the device, or only the device itself.
    pub(crate) fn filesystem_members(&self, name: &str) -> Vec<String> {
        let is_member = |pool: &&Vec<String>| pool.iter().any(|member| member == name);
        let pool = self.pools.iter().find(is_member);
        pool.cloned().unwrap_or_else(|| vec![name.into()])
    }

    /// The physical devices below all members of the filesystem on a device.
    pub(crate) fn physical_devices_of_filesystem(&self, name: &str) -> BTreeSet<String> {
        let members = self.filesystem_members(name).into_iter();
        members
            .flat_map(|member| self.physical_devices(&member))
            .collect()
    }

    /// Mounts of a device, without duplicate mount points.
    pub(crate) fn mounts_of(&self, block: &BlockDevice) -> Vec<&MountEntry> {
        let mut points = BTreeSet::new();
        let mut found = Vec::new();
        for mount in &self.mounts {
            let device = self.mounted_device(mount);
            if device.is_some_and(|device| device.name == block.name)
                && points.insert((&mount.point, mount.namespace_of.is_some()))
            {
                found.push(mount);
            }
        }
        found
    }

    /// All attached loop devices.
    pub(crate) fn loops(&self) -> impl Iterator<Item = &BlockDevice> {
        self.blocks
            .values()
            .filter(|block| block.kind == DeviceKind::Loop && block.backing.is_some())
    }
}

/// Members of mounted btrfs filesystems, from `/sys/fs/btrfs/UUID/devices`.
fn pools(kernel: &Kernel) -> Vec<Vec<String>> {
    let root = kernel.sys.join("fs/btrfs");
    names(&root)
        .into_iter()
        .map(|uuid| names(root.join(uuid).join("devices")))
        .filter(|members| !members.is_empty())
        .collect()
}
