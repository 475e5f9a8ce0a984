//! The devices as a tree: each below the one it lies on, with what it is, who uses it and what a run may do to it.

use crate::cli::print::style::{Style, Tone, wrap};
use leadline_protocol::format::bytes;
use leadline_protocol::host::{Access, Device, DeviceKind, DeviceList};
use std::collections::BTreeSet;

/// Width of the names before a detail, in characters.
const LABEL: usize = 9;

/// All devices as text.
pub fn devices(list: &DeviceList, style: Style) -> String {
    let mut tree = Tree {
        list,
        style,
        out: String::new(),
        shown: BTreeSet::new(),
    };
    let is_top = |device: &&Device| {
        !device
            .parents
            .iter()
            .any(|parent| list.devices.iter().any(|known| known.name == *parent))
    };
    for device in list.devices.iter().filter(is_top) {
        tree.branch(device, "", "");
    }
    if tree.out.is_empty() {
        "No block device can be seen.\n".into()
    } else {
        tree.out
    }
}

struct Tree<'a> {
    list: &'a DeviceList,
    style: Style,
    out: String,
    /// What lies on two devices is shown below the first.
    shown: BTreeSet<&'a str>,
}

impl<'a> Tree<'a> {
    /// A device and all that lies on it. `first` and `rest` stand before its first and its other lines.
    fn branch(&mut self, device: &'a Device, first: &str, rest: &str) {
        if !self.shown.insert(&device.name) {
            return;
        }
        let children: Vec<&Device> = self
            .list
            .devices
            .iter()
            .filter(|child| {
                child.parents.contains(&device.name) && !self.shown.contains(child.name.as_str())
            })
            .collect();
        self.card(
            device,
            first,
            &format!("{rest}{}", if children.is_empty() { "   " } else { "│  " }),
        );
        for (number, child) in children.iter().enumerate() {
            let is_last = number + 1 == children.len();
            let (branch, below) = if is_last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            self.branch(child, &format!("{rest}{branch}"), &format!("{rest}{below}"));
        }
    }

    fn card(&mut self, device: &Device, first: &str, rest: &str) {
        let name = self.style.paint(Tone::Name, &device.name);
        self.out += &format!("{first}{name}  {}\n", head(device));
        self.detail(
            rest,
            "identity",
            device
                .identity
                .as_deref()
                .unwrap_or("none that would survive a restart"),
            Tone::Aside,
        );
        // A partition has the queue of its disk, just above.
        if device.kind != DeviceKind::Partition {
            self.detail(rest, "queue", &queue(device), Tone::Aside);
        }
        if device.parents.len() > 1 {
            self.detail(rest, "lies on", &device.parents.join(", "), Tone::Aside);
        }
        if let Some(file) = &device.backing_file {
            self.detail(rest, "file", file, Tone::Aside);
        }
        if !device.used_by.is_empty() {
            self.detail(rest, "used by", &device.used_by.join("; "), Tone::Mind);
        }
        self.access(rest, "reading", &device.read_access);
        self.access(rest, "writing", &device.write_access);
    }

    fn access(&mut self, rest: &str, label: &str, access: &Access) {
        match &access.reason {
            None => self.detail(rest, label, "allowed", Tone::Good),
            Some(reason) => self.detail(rest, label, &format!("refused. {reason}"), Tone::Bad),
        }
    }

    fn detail(&mut self, rest: &str, label: &str, text: &str, tone: Tone) {
        let width = self
            .style
            .width
            .saturating_sub(rest.chars().count() + LABEL);
        for (number, line) in wrap(text, width).iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            self.out += &format!("{rest}{label:<LABEL$}{}\n", self.style.paint(tone, line));
        }
    }
}

/// Such as `256 GiB disk · Fast One · ext4 · read-only`.
fn head(device: &Device) -> String {
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
    let mut parts = vec![format!("{} {kind}", bytes(device.size_bytes))];
    parts.extend(device.model.clone());
    parts.extend(device.filesystem.clone());
    parts.extend(device.read_only.then(|| "read-only".into()));
    parts.join(" · ")
}

/// Such as `512 B blocks (4 KiB physical) · mq-deadline · write back cache · readahead 128 KiB · 256 requests`.
fn queue(device: &Device) -> String {
    let blocks = device
        .logical_block_bytes
        .map(|logical| match device.physical_block_bytes {
            Some(physical) if physical != logical => format!(
                "{} blocks ({} physical)",
                bytes(logical.into()),
                bytes(physical.into())
            ),
            _ => format!("{} blocks", bytes(logical.into())),
        });
    let parts = [
        blocks,
        device.rotational.map(|rotational| {
            if rotational {
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
            .map(|ahead| format!("readahead {}", bytes(ahead))),
        device
            .nr_requests
            .map(|requests| format!("{requests} requests")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn device(name: &str, kind: &str, parents: &[&str], changed: Value) -> Device {
        let mut device = json!({
            "name": name, "path": format!("/dev/{name}"), "dev": "8:0", "kind": kind, "identity": null, "links": [], "size_bytes": 1u64 << 30,
            "model": null, "serial": null, "rotational": null, "removable": null, "read_only": false, "scheduler": null,
            "logical_block_bytes": 512, "physical_block_bytes": 512, "write_cache": null, "read_ahead_bytes": null, "nr_requests": null,
            "mounts": [], "filesystem": null, "backing_file": null, "used_by": [], "reading": {"allowed": true, "reason": null},
            "writing": {"allowed": false, "reason": "It is not a loop device. Write to a file."}, "parents": parents
        });
        for (name, value) in changed.as_object().unwrap() {
            device[name] = value.clone();
        }
        serde_json::from_value(device).unwrap()
    }

    #[test]
    fn devices_stand_below_those_they_lie_on() {
        let list = DeviceList {
            devices: vec![
                device(
                    "sda",
                    "disk",
                    &[],
                    json!({"model": "Fast One", "identity": "wwid:eui.1", "rotational": false, "physical_block_bytes": 4096,
                    "scheduler": "mq-deadline", "write_cache": "write back", "read_ahead_bytes": 131_072, "nr_requests": 256,
                    "used_by": ["its partition sda1: mounted at /boot (ext4)", "its partition sda2: part of md0"],
                    "writing": {"allowed": false, "reason": "/dev/sda is in use: its partition sda1: mounted at /boot (ext4). Unmount it first, or choose another target."}}),
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
                    json!({"backing_file": "/data/image", "writing": {"allowed": true, "reason": null}, "read_only": true}),
                ),
            ],
        };
        let text = devices(&list, Style::default());
        assert!(
            text.lines()
                .all(|line| line.chars().count() <= Style::default().width)
        );
        insta::assert_snapshot!(text, @r"
        sda  1 GiB disk · Fast One
        │  identity wwid:eui.1
        │  queue    512 B blocks (4 KiB physical) · not rotational · scheduler mq-deadline · write back
        │           cache · readahead 128 KiB · 256 requests
        │  used by  its partition sda1: mounted at /boot (ext4); its partition sda2: part of md0
        │  reading  allowed
        │  writing  refused. /dev/sda is in use: its partition sda1: mounted at /boot (ext4). Unmount it
        │           first, or choose another target.
        ├─ sda1  1 GiB partition · ext4
        │  │  identity wwid:eui.1-part1
        │  │  reading  allowed
        │  │  writing  refused. It is not a loop device. Write to a file.
        │  └─ loop0  1 GiB loop device · read-only
        │        identity none that would survive a restart
        │        queue    512 B blocks
        │        file     /data/image
        │        reading  allowed
        │        writing  allowed
        └─ sda2  1 GiB partition
           │  identity none that would survive a restart
           │  reading  allowed
           │  writing  refused. It is not a loop device. Write to a file.
           └─ md0  1 GiB md RAID
                 identity none that would survive a restart
                 queue    512 B blocks
                 lies on  sda2, sdb
                 reading  allowed
                 writing  refused. It is not a loop device. Write to a file.
        sdb  1 GiB disk
           identity none that would survive a restart
           queue    512 B blocks
           reading  allowed
           writing  refused. It is not a loop device. Write to a file.
        ");
    }

    #[test]
    fn a_host_without_devices_says_so() {
        assert_eq!(
            devices(&DeviceList::default(), Style::default()),
            "No block device can be seen.\n"
        );
    }
}
