//! The list of devices as people see it: what each is, what uses it, and what the guard says of it.

use crate::system::guard::{Guard, Purpose};
use crate::system::host::block_device::BlockDevice;
use crate::system::host::identity::{identity, links, model, serial};
use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::{attribute, flag, value};
use crate::system::host::mounts::MountEntry;
use crate::system::host::resolved_path::ResolvedPath;
use crate::system::host::signature::signatures;
use leadline_protocol::host::{Access, Device, DeviceKind, DeviceList, Mount};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All block devices of the host, each before those that lie on it. Loop, zram and RAM devices that hold nothing are
/// left out. `roots`: the target roots.
pub fn device_list(roots: &[PathBuf]) -> DeviceList {
    let guard = Guard::live(roots);
    let shown: Vec<&BlockDevice> = in_order(&guard.host)
        .into_iter()
        .filter(|block| is_shown(block))
        .collect();
    let unmounted = shown
        .iter()
        .filter(|block| guard.host.mounts_of(block).is_empty())
        .map(|block| block.path())
        .collect::<Vec<_>>();
    let (found, links) = (signatures(&unmounted), links());
    DeviceList {
        devices: shown
            .into_iter()
            .map(|block| describe(&guard, block, &found, &links))
            .collect(),
    }
}

fn is_shown(block: &BlockDevice) -> bool {
    let may_be_empty = matches!(
        block.kind,
        DeviceKind::Disk | DeviceKind::Partition | DeviceKind::Dm | DeviceKind::Md
    );
    may_be_empty || block.size_bytes > 0
}

/// Parents before children, else by name.
fn in_order(host: &Inventory) -> Vec<&BlockDevice> {
    let mut order: Vec<&BlockDevice> = Vec::new();
    let mut waiting: Vec<&BlockDevice> = host.blocks.values().collect();
    while !waiting.is_empty() {
        let is_ready = |block: &BlockDevice, order: &[&BlockDevice]| {
            host.parents(block)
                .iter()
                .all(|parent| order.iter().any(|known| known.name == parent.name))
        };
        let (ready, rest): (Vec<&BlockDevice>, Vec<&BlockDevice>) =
            waiting.iter().partition(|block| is_ready(block, &order));
        // A circle, which the kernel does not allow, would wait for itself.
        let stuck = ready.is_empty();
        order.extend(if stuck { &rest } else { &ready });
        waiting = if stuck { Vec::new() } else { rest };
    }
    order
}

fn describe(
    guard: &Guard,
    block: &BlockDevice,
    signatures: &BTreeMap<String, String>,
    links: &BTreeMap<String, Vec<String>>,
) -> Device {
    let host = &guard.host;
    let mounts: Vec<Mount> = host.mounts_of(block).into_iter().map(shown_mount).collect();
    let queue = |name: &str| block.queue().join(name);
    let place = ResolvedPath::find(Path::new(&block.path()));
    Device {
        name: block.name.clone(),
        path: block.path(),
        dev: block.dev.to_string(),
        kind: block.kind,
        identity: identity(host, block),
        links: links.get(&block.name).cloned().unwrap_or_default(),
        size_bytes: block.size_bytes,
        model: model(block),
        serial: serial(block),
        rotational: flag(queue("rotational")),
        removable: flag(block.dir.join("removable")),
        read_only: block.read_only,
        scheduler: attribute(queue("scheduler")).map(|text| chosen(&text)),
        logical_block_bytes: value(queue("logical_block_size")),
        physical_block_bytes: value(queue("physical_block_size")),
        write_cache: attribute(queue("write_cache")),
        read_ahead_bytes: value::<u64>(queue("read_ahead_kb")).map(|kib| kib * 1024),
        nr_requests: value(queue("nr_requests")),
        filesystem: mounts
            .first()
            .map(|mount| mount.filesystem.clone())
            .or_else(|| signatures.get(&block.path()).cloned()),
        mounts,
        backing_file: block.backing.as_ref().map(|backing| backing.path.clone()),
        used_by: host.uses(block).iter().map(ToString::to_string).collect(),
        read_access: access(guard, &place, Purpose::Read),
        write_access: access(guard, &place, Purpose::Write),
        parents: host
            .parents(block)
            .iter()
            .map(|parent| parent.name.clone())
            .collect(),
    }
}

fn shown_mount(mount: &MountEntry) -> Mount {
    Mount {
        point: mount.point.clone(),
        filesystem: mount.filesystem.clone(),
        options: mount.options.clone(),
    }
}

/// The scheduler between brackets: `none [mq-deadline] kyber`; where there is no choice, there are none.
fn chosen(text: &str) -> String {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(name, _)| name).into()
}

fn access(guard: &Guard, place: &ResolvedPath, purpose: Purpose) -> Access {
    let problem = guard.admit(place, purpose).err();
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
    fn parents_come_first() {
        let host = Fixture::new(STACK).look();
        let order = in_order(&host);
        let at = |name: &str| order.iter().position(|block| block.name == name).unwrap();
        assert_eq!(order.len(), host.blocks.len());
        assert!(
            at("sda") < at("sda2")
                && at("sda2") < at("dm-0")
                && at("dm-0") < at("dm-1")
                && at("sdc") < at("md0")
        );
    }

    #[test]
    fn schedulers() {
        for (text, want) in [
            ("none [mq-deadline] kyber bfq", "mq-deadline"),
            ("[none] mq-deadline", "none"),
            ("none", "none"),
        ] {
            assert_eq!(chosen(text), want);
        }
    }
}
