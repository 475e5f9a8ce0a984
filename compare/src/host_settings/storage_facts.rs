//! Facts about the storage below the targets of a run.

use crate::settings::Facts;
use leadline_protocol::{
    device::DeviceKind,
    host::storage::{HostStorage, StorageDevice},
};
use std::collections::BTreeSet;

/// Mount options that contain paths (`targets.path` is ignored too) or that change at every mount.
const IGNORED_MOUNT_OPTIONS: &[&str] = &[
    "clientaddr",
    "fd",
    "lowerdir",
    "mountport",
    "pgrp",
    "subvol",
    "subvolid",
    "upperdir",
    "workdir",
];

/// Placeholder in a list of values, for a device that does not have the property.
const MISSING: &str = "-";

pub(crate) fn storage_facts(storage: &HostStorage) -> Facts {
    let mounts = || storage.mounts.iter();
    let mut facts = Facts::from([
        (
            "filesystem".into(),
            distinct(mounts().map(|mount| mount.filesystem.clone())),
        ),
        (
            "mount_options".into(),
            distinct(mounts().map(|mount| mount_options(&mount.options))),
        ),
    ]);
    // Sorted by value, because kernel names and the order of devices may change on reboot.
    let mut devices: Vec<&StorageDevice> = storage.devices.iter().collect();
    devices.sort_by_cached_key(|device| {
        let values: Vec<_> = COLUMNS.iter().map(|column| column.text(device)).collect();
        (device.is_physical, values)
    });
    for column in COLUMNS {
        let values: Vec<String> = devices.iter().filter_map(|d| column.text(d)).collect();
        let is_missing = values.iter().all(|value| value == MISSING);
        let value = (!is_missing).then(|| values.join(column.separator));
        facts.insert(format!("device.{}", column.name), value);
    }
    facts
}

/// A device property, compared as one fact with a value per device.
struct Column {
    name: &'static str,
    /// Separator between the values of multiple devices: a comma if values may contain spaces.
    /// Numbers are separated by spaces, which the web UI expects.
    separator: &'static str,
    applies: fn(&StorageDevice) -> bool,
    value: fn(&StorageDevice) -> Option<String>,
}

impl Column {
    fn text(&self, device: &StorageDevice) -> Option<String> {
        let value = || (self.value)(device).unwrap_or_else(|| MISSING.into());
        (self.applies)(device).then(value)
    }
}

const COLUMNS: &[Column] = &[
    Column {
        name: "identity",
        separator: ", ",
        applies: |_| true,
        value: |device| Some(identity(device)),
    },
    Column {
        name: "model",
        separator: ", ",
        applies: |device| device.is_physical,
        value: |device| device.model.clone(),
    },
    Column {
        name: "size_bytes",
        separator: " ",
        // Loop devices are omitted, because their size is the size of their file.
        applies: |device| device.is_physical && device.kind != DeviceKind::Loop,
        value: |device| Some(device.size_bytes.to_string()),
    },
    Column {
        name: "scheduler",
        separator: ", ",
        applies: has_queue,
        value: |device| device.scheduler.clone(),
    },
    Column {
        name: "read_ahead_bytes",
        separator: " ",
        applies: has_queue,
        value: |device| Some(device.read_ahead_bytes?.to_string()),
    },
    Column {
        name: "nr_requests",
        separator: " ",
        applies: has_queue,
        value: |device| Some(device.nr_requests?.to_string()),
    },
    Column {
        name: "write_cache",
        separator: ", ",
        applies: has_queue,
        value: |device| device.write_cache.clone(),
    },
];

fn has_queue(device: &StorageDevice) -> bool {
    device.kind != DeviceKind::Partition
}

/// All loop devices have the same identity: their number depends on which numbers were free, and
/// the path of their backing file is the path of the target.
fn identity(device: &StorageDevice) -> String {
    match &device.identity {
        _ if device.kind == DeviceKind::Loop => "loop".into(),
        Some(identity) => identity.clone(),
        None => device.name.clone(),
    }
}

/// The compared mount options, sorted, because their order depends on the kernel version.
pub(crate) fn mount_options(options: &str) -> String {
    let is_compared = |option: &&str| {
        let name = option.split('=').next().unwrap_or(option);
        !IGNORED_MOUNT_OPTIONS.contains(&name.trim_end_matches('+'))
    };
    let options: BTreeSet<&str> = options.split(',').filter(is_compared).collect();
    Vec::from_iter(options).join(",")
}

/// Each value once, sorted; `None` without values.
pub(crate) fn distinct(values: impl Iterator<Item = String>) -> Option<String> {
    let values = Vec::from_iter(values.collect::<BTreeSet<String>>());
    (!values.is_empty()).then(|| values.join(" "))
}
