//! The device list: each device's properties, what uses it, and what the guard permits.

use crate::system::{
    guard::{Guard, Purpose, permissions::Permissions},
    host::{
        block_device::BlockDevice,
        identity::{identity, links, model, serial},
        inventory::Inventory,
        kernel::{read_flag, value},
        queue_settings::QueueSettings,
        resolved_path::ResolvedPath,
        signature::signatures,
    },
};
use leadline_protocol::{
    device::{Access, Device, DeviceKind, DeviceList, Mount},
    text::printable,
};
use std::{collections::BTreeMap, fs::File, path::Path};

/// All block devices except empty loop, zram, RAM and optical devices and their partitions; parents
/// come before children.
pub fn device_list(permissions: &Permissions) -> DeviceList {
    let guard = Guard::live(permissions);
    let links = links();
    let devices = sort_parents_first(&guard.host)
        .into_iter()
        .filter(|block| is_shown(&guard.host, block))
        .map(|block| device(&guard, block, &links));
    DeviceList {
        devices: devices.collect(),
    }
}

/// A partition is shown only if its disk is shown, because the kernel may keep partitions of a
/// detached loop device.
pub(crate) fn is_shown(host: &Inventory, block: &BlockDevice) -> bool {
    let disk = match &block.disk {
        Some(disk) => host.blocks.get(disk),
        None => Some(block),
    };
    disk.is_some_and(is_disk_shown)
}

fn is_disk_shown(block: &BlockDevice) -> bool {
    let may_be_empty = matches!(
        block.kind,
        DeviceKind::Disk | DeviceKind::Dm | DeviceKind::Md
    );
    may_be_empty || block.size_bytes > 0
}

/// Sorts by the number of lower devices, which is larger for a device than for its parents.
pub(crate) fn sort_parents_first(host: &Inventory) -> Vec<&BlockDevice> {
    let mut blocks: Vec<&BlockDevice> = host.blocks.values().collect();
    blocks.sort_by_cached_key(|block| host.lower_devices(&block.name).len());
    blocks
}

fn device(guard: &Guard, block: &BlockDevice, links: &BTreeMap<String, Vec<String>>) -> Device {
    let host = &guard.host;
    let path = block.path();
    let queue = block.queue();
    let settings = QueueSettings::read(block);
    let mounts: Vec<Mount> = (host.mounts_of(block).into_iter())
        .map(|mount| Mount {
            point: printable(&mount.point),
            filesystem: printable(&mount.filesystem),
            options: printable(&mount.options),
        })
        .collect();
    let filesystem = match mounts.first() {
        Some(mount) => Some(mount.filesystem.clone()),
        None => File::open(&path)
            .ok()
            .and_then(|device| signatures(&device).first().map(ToString::to_string)),
    };
    let parents = host.parents(block);
    let found = ResolvedPath::find(Path::new(&path));
    Device {
        name: block.name.clone(),
        dev: block.dev.to_string(),
        kind: block.kind,
        identity: identity(host, block),
        links: links.get(&block.name).cloned().unwrap_or_default(),
        size_bytes: block.size_bytes,
        model: model(block),
        serial: serial(block),
        rotational: read_flag(queue.join("rotational")),
        removable: read_flag(block.dir.join("removable")),
        read_only: block.read_only,
        scheduler: settings.scheduler,
        logical_block_bytes: value(queue.join("logical_block_size")),
        physical_block_bytes: value(queue.join("physical_block_size")),
        write_cache: settings.write_cache,
        read_ahead_bytes: settings.read_ahead_bytes,
        nr_requests: settings.nr_requests,
        filesystem,
        mounts,
        backing_file: block.backing.as_ref().map(|backing| backing.path.clone()),
        used_by: host.uses(block).iter().map(ToString::to_string).collect(),
        read_access: access(guard, &found, Purpose::Read),
        write_access: access(guard, &found, Purpose::Write),
        parents: parents.iter().map(|parent| parent.name.clone()).collect(),
        path,
    }
}

fn access(guard: &Guard, found: &ResolvedPath, purpose: Purpose) -> Access {
    let problem = guard.admit(found, purpose).err();
    Access {
        allowed: problem.is_none(),
        reason: problem.map(|problem| format!("{} {}", problem.detail, problem.remedy)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn parents_come_before_children() {
        let host = Fixture::new(STACK).inventory();
        let order = sort_parents_first(&host);
        let at = |name: &str| order.iter().position(|block| block.name == name).unwrap();
        assert_eq!(order.len(), host.blocks.len());
        assert!(
            at("sda") < at("sda2")
                && at("sda2") < at("dm-0")
                && at("dm-0") < at("dm-1")
                && at("sdc") < at("md0")
        );
    }
}
