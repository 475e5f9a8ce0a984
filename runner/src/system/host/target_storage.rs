//! The mounts and block devices below the targets of a run, with the settings that affect results.

use crate::system::host::{
    block_device::{Backing, BlockDevice},
    identity::{identity, model},
    inventory::Inventory,
    kernel::Kernel,
    mounts::MountEntry,
    queue_settings::QueueSettings,
    resolved_path::{ResolvedPath, deepest_existing},
};
use leadline_protocol::{
    device::{DeviceKind, Mount},
    host::storage::{HostStorage, StorageDevice},
    plan::{job::ResolvedJob, target::TargetKind},
};
use std::path::Path;

pub(crate) fn target_storage(jobs: &[ResolvedJob]) -> HostStorage {
    storage(&Inventory::read(&Kernel::live()), jobs)
}

fn storage(host: &Inventory, jobs: &[ResolvedJob]) -> HostStorage {
    let mut builder = StorageBuilder {
        host,
        devices: Vec::new(),
        storage: HostStorage::default(),
    };
    for target in jobs.iter().flat_map(|job| &job.targets) {
        let is_file = matches!(target.kind, TargetKind::File | TargetKind::Loop);
        if is_file {
            builder.add_mount(host.mount_at(deepest_existing(Path::new(&target.path))));
        }
        match &target.device {
            Some(name) if is_file => builder.add_devices(host.filesystem_members(name)),
            Some(name) => builder.add_devices(vec![name.clone()]),
            None => {}
        }
    }
    builder.storage
}

struct StorageBuilder<'a> {
    host: &'a Inventory,
    /// Kernel names of the devices that are already in `storage`.
    devices: Vec<String>,
    storage: HostStorage,
}

impl StorageBuilder<'_> {
    fn add_mount(&mut self, mount: Option<&MountEntry>) {
        let Some(mount) = mount else { return };
        let mounts = &mut self.storage.mounts;
        if mounts.iter().all(|known| known.point != mount.point) {
            mounts.push(Mount {
                point: mount.point.clone(),
                filesystem: mount.filesystem.clone(),
                options: mount.options.clone(),
            });
        }
    }

    /// Adds devices (kernel names) and all devices below them.
    fn add_devices(&mut self, mut open: Vec<String>) {
        let host = self.host;
        while let Some(name) = open.pop() {
            let Some(block) = host.blocks.get(&name) else {
                continue;
            };
            if self.devices.contains(&name) {
                continue;
            }
            self.devices.push(name);
            self.storage.devices.push(storage_device(host, block));
            if let Some(backing) = &block.backing {
                self.add_mount(backing_mount(host, backing));
            }
            open.extend(lower_devices(host, block));
        }
    }
}

/// Kernel names of the devices directly below. All members of a btrfs filesystem are below a loop
/// device on one of its files.
fn lower_devices(host: &Inventory, block: &BlockDevice) -> Vec<String> {
    let parents = host.parents(block).into_iter();
    let names = parents.map(|parent| parent.name.clone());
    let is_on_file = |backing: &Backing| backing.device.is_none();
    if block.backing.as_ref().is_some_and(is_on_file) {
        return names
            .flat_map(|name| host.filesystem_members(&name))
            .collect();
    }
    names.collect()
}

/// The mount of a loop device's backing file; `None` if it is not visible.
fn backing_mount<'a>(host: &'a Inventory, backing: &Backing) -> Option<&'a MountEntry> {
    let path = Path::new(&backing.path);
    let stat = ResolvedPath::find(path).stat?;
    let is_file = backing.device.is_none() && backing.is_file(stat);
    is_file.then(|| host.mount_at(path)).flatten()
}

fn storage_device(host: &Inventory, block: &BlockDevice) -> StorageDevice {
    let queue = match block.kind {
        DeviceKind::Partition => QueueSettings::default(),
        _ => QueueSettings::read(block),
    };
    StorageDevice {
        name: block.name.clone(),
        kind: block.kind,
        is_physical: host.parents(block).is_empty(),
        identity: identity(host, block),
        model: model(block),
        size_bytes: block.size_bytes,
        scheduler: queue.scheduler,
        read_ahead_bytes: queue.read_ahead_bytes,
        nr_requests: queue.nr_requests,
        write_cache: queue.write_cache,
    }
}
