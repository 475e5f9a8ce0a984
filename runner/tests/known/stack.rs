//! dm and md devices over the disks of a user-mode Linux: which layers lie on which disks. Made by dmsetup and mdadm alone,
//! without udev. They go with the Linux that they are in.

use std::path::Path;

use crate::places::Place;
use crate::scratch;

/// Bytes of a disk: an array with its metadata and an ext4 with its journal, and room for a case.
pub const DISK_BYTES: u64 = 64 << 20;
/// Bytes of a dm device without a filesystem: no more than a case reads, so that nothing lies behind to be read ahead.
const DEVICE_BYTES: u64 = crate::state::BYTES;
/// Bytes of a stripe on one disk before the next one's turn.
const CHUNK_BYTES: u64 = 64 << 10;
/// dm counts in sectors.
const SECTOR_BYTES: u64 = 512;
/// Any key will do.
const KEY: &str = "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e";

/// One layer, over all that lies beneath.
#[derive(Clone, Copy, Debug)]
pub enum Layer {
    Linear,
    Stripe,
    Crypt,
    Raid0,
    Raid1,
}

/// A pile of layers on disks.
pub struct Stack {
    /// What it is called.
    pub place: Place,
    /// The disks beneath everything, by kernel name.
    pub disks: &'static [&'static str],
    /// From the disks upwards.
    layers: &'static [Layer],
    /// Whether there is an ext4 on top.
    pub has_filesystem: bool,
}

const fn raw(place: Place, disks: &'static [&'static str], layers: &'static [Layer]) -> Stack {
    Stack {
        place,
        disks,
        layers,
        has_filesystem: false,
    }
}

const fn ext4(place: Place, disks: &'static [&'static str], layers: &'static [Layer]) -> Stack {
    Stack {
        place,
        disks,
        layers,
        has_filesystem: true,
    }
}

/// All of them, each on disks of its own.
pub const STACKS: &[Stack] = &[
    raw(Place::Linear, &["ubda"], &[Layer::Linear]),
    ext4(Place::OnLinear, &["ubdb"], &[Layer::Linear]),
    raw(Place::Striped, &["ubdc", "ubdd"], &[Layer::Stripe]),
    raw(
        Place::CryptOnRaid1,
        &["ubde", "ubdf"],
        &[Layer::Raid1, Layer::Crypt],
    ),
    raw(Place::Raid0, &["ubdg", "ubdh"], &[Layer::Raid0]),
    ext4(Place::OnRaid0, &["ubdi", "ubdj"], &[Layer::Raid0]),
    raw(Place::Raid1, &["ubdk", "ubdl"], &[Layer::Raid1]),
    ext4(Place::OnRaid1, &["ubdm", "ubdn"], &[Layer::Raid1]),
];

/// The stack of a place.
pub fn of(place: Place) -> &'static Stack {
    STACKS.iter().find(|stack| stack.place == place).unwrap()
}

impl Stack {
    /// How often each byte is on the disks.
    pub fn copies(&self) -> u64 {
        let mirrors = self
            .layers
            .iter()
            .any(|layer| matches!(layer, Layer::Raid1));
        if mirrors { self.disks.len() as u64 } else { 1 }
    }

    /// Whether the disks take turns, each a chunk.
    pub fn is_striped(&self) -> bool {
        self.layers
            .iter()
            .any(|layer| matches!(layer, Layer::Raid0 | Layer::Stripe))
    }

    /// Makes it; the path of the device on top.
    pub fn make(&self) -> String {
        let mut beneath: Vec<String> = self
            .disks
            .iter()
            .map(|disk| format!("/dev/{disk}"))
            .collect();
        for layer in self.layers {
            beneath = vec![self.over(*layer, &beneath)];
        }
        beneath.remove(0)
    }

    fn over(&self, layer: Layer, beneath: &[String]) -> String {
        let first = &beneath[0];
        match layer {
            Layer::Linear => self.mapped(&format!("linear {first} 0")),
            Layer::Crypt => self.mapped(&format!("crypt aes-xts-plain64 {KEY} 0 {first} 0")),
            Layer::Stripe => {
                let each: Vec<String> = beneath.iter().map(|disk| format!("{disk} 0")).collect();
                self.mapped(&format!(
                    "striped {} {} {}",
                    each.len(),
                    CHUNK_BYTES / SECTOR_BYTES,
                    each.join(" ")
                ))
            }
            Layer::Raid0 => self.array("0", &[&format!("--chunk={}", CHUNK_BYTES >> 10)], beneath),
            Layer::Raid1 => self.array("1", &["--bitmap=none"], beneath),
        }
    }

    /// A dm device of one target type.
    fn mapped(&self, kind: &str) -> String {
        let name = format!("{:?}", self.place);
        let bytes = if self.has_filesystem {
            DISK_BYTES
        } else {
            DEVICE_BYTES
        };
        scratch::run(
            "dmsetup",
            &[
                "create",
                &name,
                "--table",
                &format!("0 {} {kind}", bytes / SECTOR_BYTES),
            ],
        )
        .unwrap();
        let node = scratch::run(
            "dmsetup",
            &["info", "-c", "--noheadings", "-o", "blkdevname", &name],
        )
        .unwrap();
        format!("/dev/{node}")
    }

    /// A md array whose disks are taken to be equal as they are.
    fn array(&self, level: &str, options: &[&str], disks: &[String]) -> String {
        let number = (0..)
            .find(|number| !Path::new(&format!("/sys/block/md{number}")).exists())
            .unwrap();
        let (node, count) = (
            format!("/dev/md{number}"),
            format!("--raid-devices={}", disks.len()),
        );
        let mut args = vec![
            "--create",
            &node,
            "--run",
            "--assume-clean",
            "--metadata=1.2",
            "--level",
            level,
            &count,
        ];
        args.extend(options);
        args.extend(disks.iter().map(String::as_str));
        scratch::run("mdadm", &args).unwrap();
        node
    }
}
