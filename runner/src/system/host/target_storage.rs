//! The mounts and block devices below a run's targets, and their settings that affect results.

use crate::system::host::{
    block_device::{Backing, BlockDevice},
    identity::{identity, model},
    inventory::Inventory,
    kernel::Kernel,
    mounts::MountEntry,
    queue_settings::QueueSettings,
    resolved_path::{ResolvedPath, deepest_existing_path},
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

pub(super) fn storage(host: &Inventory, jobs: &[ResolvedJob]) -> HostStorage {
    let mut builder = StorageBuilder {
        host,
        devices: Vec::new(),
        storage: HostStorage::default(),
    };
    for target in jobs.iter().flat_map(|job| &job.targets) {
        let is_file = matches!(target.kind, TargetKind::File | TargetKind::Loop);
        if is_file {
            builder.add_mount(host.mount_at(deepest_existing_path(Path::new(&target.path))));
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
    /// Kernel names of the devices that have already been added to `storage`.
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

/// Kernel names of the devices directly below. For a loop device backed by a file on btrfs, these
/// are all members of the filesystem.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::fixture::{resolved, target},
        system::host::fixture::{Fixture, STACK},
    };
    use leadline_protocol::plan::target::Target;
    use serde_json::json;

    /// Storage below targets with these kinds, paths and devices.
    fn found(host: &Inventory, targets: &[(TargetKind, &str, Option<&str>)]) -> HostStorage {
        let targets: Vec<Target> = targets
            .iter()
            .map(|(kind, path, device)| Target {
                path: (*path).into(),
                kind: *kind,
                device: device.map(Into::into),
                ..target(0, 1 << 20)
            })
            .collect();
        storage(host, &[resolved(json!({"targets": targets}))])
    }

    fn names(storage: &HostStorage) -> Vec<&str> {
        let devices = storage.devices.iter();
        devices.map(|device| device.name.as_str()).collect()
    }

    #[test]
    fn lists_devices_down_to_the_disks() {
        let host = Fixture::new(STACK).inventory();
        for (kind, device, want, physical) in [
            (
                TargetKind::File,
                "dm-1",
                vec!["dm-1", "dm-0", "sda2", "sda"],
                vec!["sda"],
            ),
            (
                TargetKind::Device,
                "md0",
                vec!["md0", "sdc", "sdb"],
                vec!["sdc", "sdb"],
            ),
            (
                TargetKind::File,
                "sdd",
                vec!["sde", "sdd"],
                vec!["sde", "sdd"],
            ),
            (TargetKind::Device, "sdd", vec!["sdd"], vec!["sdd"]),
        ] {
            let found = found(&host, &[(kind, "/nowhere", Some(device))]);
            assert_eq!(names(&found), want, "{device}");
            let devices = found.devices.into_iter();
            let lowest: Vec<String> = devices
                .filter(|device| device.is_physical)
                .map(|device| device.name)
                .collect();
            assert_eq!(lowest, physical, "{device}");
        }
    }

    #[test]
    fn each_device_is_listed_once() {
        let host = Fixture::new(STACK).inventory();
        let targets = ["sda1", "dm-1", "sda1"].map(|name| (TargetKind::Device, "/x", Some(name)));
        assert_eq!(
            names(&found(&host, &targets)),
            ["sda1", "sda", "dm-1", "dm-0", "sda2"]
        );
        let none = found(&host, &[(TargetKind::Null, "null", None)]);
        assert_eq!(none, HostStorage::default());
    }

    #[test]
    fn reads_the_settings_of_each_queue() {
        let fixture = Fixture::new(
            "sys/devices/sda/dev = 4008:0
            sys/devices/sda/size = 2048
            sys/devices/sda/device/model = Fast
            sys/devices/sda/serial = S1
            sys/devices/sda/queue/scheduler = none [mq-deadline]
            sys/devices/sda/queue/read_ahead_kb = 128
            sys/devices/sda/queue/nr_requests = 256
            sys/devices/sda/queue/write_cache = write back
            sys/devices/sda/sda1/dev = 4008:1
            sys/devices/sda/sda1/partition = 1",
        );
        let host = fixture.inventory();
        let storage = found(&host, &[(TargetKind::Device, "/dev/sda1", Some("sda1"))]);
        let [partition, disk] = &storage.devices[..] else {
            panic!("{storage:?}")
        };
        assert_eq!(partition.identity.as_deref(), Some("serial:Fast_S1-part1"));
        assert_eq!((&partition.scheduler, partition.nr_requests), (&None, None));
        let want = StorageDevice {
            name: "sda".into(),
            kind: DeviceKind::Disk,
            is_physical: true,
            identity: Some("serial:Fast_S1".into()),
            model: Some("Fast".into()),
            size_bytes: 1 << 20,
            scheduler: Some("mq-deadline".into()),
            read_ahead_bytes: Some(128 << 10),
            nr_requests: Some(256),
            write_cache: Some("write back".into()),
        };
        assert_eq!(*disk, want);
    }

    #[test]
    fn finds_the_mount_of_a_missing_file() {
        let host = Inventory::read(&Kernel::live());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/file");
        let path = path.to_str().unwrap();
        let targets = [TargetKind::File, TargetKind::Loop].map(|kind| (kind, path, None));
        let mount = host.mount_at(dir.path()).unwrap();
        let want = Mount {
            point: mount.point.clone(),
            filesystem: mount.filesystem.clone(),
            options: mount.options.clone(),
        };
        assert_eq!(found(&host, &targets).mounts, [want]);
    }
}
