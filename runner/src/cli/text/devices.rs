//! Shows block devices as a tree, each below its parent device.

use crate::cli::text::{
    style::{BOLD, DIM, GREEN, RED, YELLOW, paint},
    writer::{TextWriter, join},
};
use anstyle::Style;
use leadline_protocol::{
    device::{Access, Device, DeviceKind, DeviceList},
    format::bytes,
};
use std::collections::BTreeSet;

/// Width of the label column.
const LABEL: usize = 9;

pub fn render(list: &DeviceList, width: usize) -> String {
    if list.devices.is_empty() {
        return "No block devices found.\n".into();
    }
    let mut tree = Tree {
        list,
        out: TextWriter::new(width),
        shown: BTreeSet::new(),
    };
    let names: BTreeSet<&String> = list.devices.iter().map(|device| &device.name).collect();
    for device in &list.devices {
        if !device.parents.iter().any(|parent| names.contains(parent)) {
            tree.write_branch(device, "", "");
        }
    }
    tree.out.into_text()
}

struct Tree<'a> {
    list: &'a DeviceList,
    out: TextWriter,
    /// Devices already shown: a device with more than one parent is shown only below the first.
    shown: BTreeSet<&'a str>,
}

impl<'a> Tree<'a> {
    /// Writes a device and its children. `first` is the prefix of the first line, `rest` the prefix
    /// of all other lines.
    fn write_branch(&mut self, device: &'a Device, first: &str, rest: &str) {
        if !self.shown.insert(&device.name) {
            return;
        }
        let children: Vec<&Device> = self
            .list
            .devices
            .iter()
            .filter(|child| child.parents.contains(&device.name))
            .filter(|child| !self.shown.contains(child.name.as_str()))
            .collect();
        let name = paint(BOLD, &device.name);
        self.out
            .push(&format!("{first}{name}  {}\n", title(device)));
        let line = if children.is_empty() { "   " } else { "│  " };
        self.details(device, &format!("{rest}{line}"));
        for (index, child) in children.iter().enumerate() {
            let (branch, line) = if index + 1 == children.len() {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            self.write_branch(child, &format!("{rest}{branch}"), &format!("{rest}{line}"));
        }
    }

    fn details(&mut self, device: &Device, prefix: &str) {
        let identity = device.identity.as_deref().unwrap_or("not stable");
        self.detail(prefix, DIM, "identity", identity);
        // A partition shares its disk's queue.
        if device.kind != DeviceKind::Partition {
            self.detail(prefix, DIM, "queue", &queue(device));
        }
        if device.parents.len() > 1 {
            self.detail(prefix, DIM, "parents", &device.parents.join(", "));
        }
        if let Some(file) = &device.backing_file {
            self.detail(prefix, DIM, "file", file);
        }
        if !device.used_by.is_empty() {
            self.detail(prefix, YELLOW, "used by", &device.used_by.join("; "));
        }
        self.access(prefix, "read", &device.read_access);
        self.access(prefix, "write", &device.write_access);
    }

    fn access(&mut self, prefix: &str, label: &str, access: &Access) {
        match &access.reason {
            None => self.detail(prefix, GREEN, label, "allowed"),
            Some(reason) => self.detail(prefix, RED, label, &format!("denied: {reason}")),
        }
    }

    fn detail(&mut self, prefix: &str, style: Style, label: &str, text: &str) {
        self.out.wrapped_text(
            &format!("{prefix}{label:<LABEL$}"),
            &format!("{prefix}{:LABEL$}", ""),
            &paint(style, text),
        );
    }
}

/// For example, `256 GiB disk · Fast One · ext4 · read-only`.
fn title(device: &Device) -> String {
    let kind = match device.kind {
        DeviceKind::Disk => "disk",
        DeviceKind::Partition => "partition",
        DeviceKind::Loop => "loop device",
        DeviceKind::Dm => "dm device",
        DeviceKind::Md => "md RAID",
        DeviceKind::Zram => "zram",
        DeviceKind::Ram => "RAM disk",
        DeviceKind::Rom => "optical drive",
        DeviceKind::Other => "block device",
    };
    let parts = [
        Some(format!("{} {kind}", bytes(device.size_bytes))),
        device.model.clone(),
        device.filesystem.clone(),
        device.read_only.then(|| "read-only".into()),
    ];
    join(parts, " · ")
}

/// `512 B blocks (4 KiB physical) · scheduler mq-deadline · write back cache · 256 requests`.
fn queue(device: &Device) -> String {
    let parts = [
        blocks(device),
        device.rotational.map(|is_rotational| {
            if is_rotational {
                "rotational"
            } else {
                "not rotational"
            }
            .into()
        }),
        device
            .scheduler
            .as_ref()
            .map(|name| format!("scheduler {name}")),
        device
            .write_cache
            .as_ref()
            .map(|cache| format!("{cache} cache")),
        device
            .read_ahead_bytes
            .map(|size| format!("readahead {}", bytes(size))),
        device
            .nr_requests
            .map(|requests| format!("{requests} requests")),
    ];
    join(parts, " · ")
}

fn blocks(device: &Device) -> Option<String> {
    let logical = device.logical_block_bytes?;
    let text = format!("{} blocks", bytes(logical.into()));
    Some(match device.physical_block_bytes {
        Some(physical) if physical != logical => {
            format!("{text} ({} physical)", bytes(physical.into()))
        }
        _ => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::text::style::DEFAULT_WIDTH;
    use anstream::adapter::strip_str;
    use serde_json::{Value, json};

    fn device(name: &str, kind: &str, parents: &[&str], changed: Value) -> Device {
        let mut device = json!({
            "name": name, "path": format!("/dev/{name}"), "dev": "8:0", "kind": kind, "identity": null, "links": [], "size_bytes": 1u64 << 30,
            "model": null, "serial": null, "rotational": null, "removable": null, "read_only": false, "scheduler": null,
            "logical_block_bytes": 512, "physical_block_bytes": 512, "write_cache": null, "read_ahead_bytes": null, "nr_requests": null,
            "mounts": [], "filesystem": null, "backing_file": null, "used_by": [], "read_access": {"allowed": true, "reason": null},
            "write_access": {"allowed": false, "reason": "It is not a loop device. Write to a file."}, "parents": parents
        });
        for (name, value) in changed.as_object().unwrap() {
            device[name] = value.clone();
        }
        serde_json::from_value(device).unwrap()
    }

    #[test]
    fn shows_devices_below_their_first_parent() {
        let list = DeviceList {
            devices: vec![
                device(
                    "sda",
                    "disk",
                    &[],
                    json!({"model": "Fast One", "identity": "wwid:eui.1", "rotational": false, "physical_block_bytes": 4096,
                    "scheduler": "mq-deadline", "write_cache": "write back", "read_ahead_bytes": 131_072, "nr_requests": 256,
                    "used_by": ["its partition sda1: mounted at /boot (ext4)", "its partition sda2: part of md0"],
                    "write_access": {"allowed": false, "reason": "/dev/sda is in use: its partition sda1: mounted at /boot (ext4). Unmount it first, or choose another target."}}),
                ),
                device(
                    "sda1",
                    "partition",
                    &["sda"],
                    json!({"filesystem": "ext4", "identity": "wwid:eui.1-part1"}),
                ),
                device("sda2", "partition", &["sda"], json!({})),
                device("sdb", "disk", &[], json!({})),
                device("md0", "md", &["sda2", "sdb"], json!({})),
                device(
                    "loop0",
                    "loop",
                    &["sda1"],
                    json!({"backing_file": "/data/image", "write_access": {"allowed": true, "reason": null}, "read_only": true}),
                ),
            ],
        };
        let text = strip_str(&render(&list, DEFAULT_WIDTH)).to_string();
        assert!(
            text.lines()
                .all(|line| line.chars().count() <= DEFAULT_WIDTH)
        );
        insta::assert_snapshot!(text, @r"
        sda  1 GiB disk · Fast One
        │  identity wwid:eui.1
        │  queue    512 B blocks (4 KiB physical) · not rotational · scheduler mq-deadline · write back
        │           cache · readahead 128 KiB · 256 requests
        │  used by  its partition sda1: mounted at /boot (ext4); its partition sda2: part of md0
        │  read     allowed
        │  write    denied: /dev/sda is in use: its partition sda1: mounted at /boot (ext4). Unmount it
        │           first, or choose another target.
        ├─ sda1  1 GiB partition · ext4
        │  │  identity wwid:eui.1-part1
        │  │  read     allowed
        │  │  write    denied: It is not a loop device. Write to a file.
        │  └─ loop0  1 GiB loop device · read-only
        │        identity not stable
        │        queue    512 B blocks
        │        file     /data/image
        │        read     allowed
        │        write    allowed
        └─ sda2  1 GiB partition
           │  identity not stable
           │  read     allowed
           │  write    denied: It is not a loop device. Write to a file.
           └─ md0  1 GiB md RAID
                 identity not stable
                 queue    512 B blocks
                 parents  sda2, sdb
                 read     allowed
                 write    denied: It is not a loop device. Write to a file.
        sdb  1 GiB disk
           identity not stable
           queue    512 B blocks
           read     allowed
           write    denied: It is not a loop device. Write to a file.
        ");
    }

    #[test]
    fn reports_a_host_without_devices() {
        assert_eq!(
            render(&DeviceList::default(), DEFAULT_WIDTH),
            "No block devices found.\n"
        );
    }
}
