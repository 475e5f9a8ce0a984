//! dm and md devices on UML's disks, created by dmsetup and mdadm without udev. They disappear when
//! UML shuts down.

use crate::{
    scratch::mapped::{self, SECTOR_BYTES},
    test_targets::TestTarget,
};

/// Size of a disk in bytes: enough for array metadata, ext4 with its journal, and a target.
pub(crate) const DISK_BYTES: u64 = 64 << 20;
/// Size of a dm device without a filesystem. It equals the number of bytes that a case reads, so
/// readahead cannot read more.
const DEVICE_BYTES: u64 = crate::state::BYTES;
/// Bytes per chunk of a stripe.
const CHUNK_BYTES: u64 = 64 << 10;
/// Arbitrary key.
const KEY: &str = "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Layer {
    Linear,
    Stripe,
    Crypt,
    Raid0,
    Raid1,
}

/// A stack of device layers on top of disks.
pub(crate) struct Stack {
    pub(crate) test_target: TestTarget,
    /// Kernel names.
    pub(crate) disks: &'static [&'static str],
    /// Ordered from bottom to top.
    layers: &'static [Layer],
    /// Whether ext4 is on top.
    pub(crate) has_filesystem: bool,
}

const fn raw(
    test_target: TestTarget,
    disks: &'static [&'static str],
    layers: &'static [Layer],
) -> Stack {
    Stack {
        test_target,
        disks,
        layers,
        has_filesystem: false,
    }
}

const fn ext4(
    test_target: TestTarget,
    disks: &'static [&'static str],
    layers: &'static [Layer],
) -> Stack {
    Stack {
        has_filesystem: true,
        ..raw(test_target, disks, layers)
    }
}

/// Each stack uses separate disks.
pub(crate) const STACKS: &[Stack] = &[
    raw(TestTarget::Linear, &["ubda"], &[Layer::Linear]),
    ext4(TestTarget::OnLinear, &["ubdb"], &[Layer::Linear]),
    raw(TestTarget::Striped, &["ubdc", "ubdd"], &[Layer::Stripe]),
    raw(
        TestTarget::CryptOnRaid1,
        &["ubde", "ubdf"],
        &[Layer::Raid1, Layer::Crypt],
    ),
    raw(TestTarget::Raid0, &["ubdg", "ubdh"], &[Layer::Raid0]),
    ext4(TestTarget::OnRaid0, &["ubdi", "ubdj"], &[Layer::Raid0]),
    raw(TestTarget::Raid1, &["ubdk", "ubdl"], &[Layer::Raid1]),
    ext4(TestTarget::OnRaid1, &["ubdm", "ubdn"], &[Layer::Raid1]),
];

pub(crate) fn of(test_target: TestTarget) -> &'static Stack {
    STACKS
        .iter()
        .find(|stack| stack.test_target == test_target)
        .unwrap()
}

impl Stack {
    /// Number of copies of each byte that the stack stores.
    pub(crate) fn copies(&self) -> u64 {
        let mirrors = self
            .layers
            .iter()
            .any(|layer| matches!(layer, Layer::Raid1));
        if mirrors { self.disks.len() as u64 } else { 1 }
    }

    pub(crate) fn is_striped(&self) -> bool {
        self.layers
            .iter()
            .any(|layer| matches!(layer, Layer::Raid0 | Layer::Stripe))
    }

    /// Returns the path of the top device.
    pub(crate) fn make(&self) -> String {
        let mut lower: Vec<String> = self
            .disks
            .iter()
            .map(|disk| format!("/dev/{disk}"))
            .collect();
        for layer in self.layers {
            lower = vec![self.over(*layer, &lower)];
        }
        lower.remove(0)
    }

    fn over(&self, layer: Layer, lower: &[String]) -> String {
        let first = &lower[0];
        match layer {
            Layer::Linear => self.mapped(&format!("linear {first} 0")),
            Layer::Crypt => self.mapped(&format!("crypt aes-xts-plain64 {KEY} 0 {first} 0")),
            Layer::Stripe => {
                let each: Vec<String> = lower.iter().map(|disk| format!("{disk} 0")).collect();
                self.mapped(&format!(
                    "striped {} {} {}",
                    each.len(),
                    CHUNK_BYTES / SECTOR_BYTES,
                    each.join(" ")
                ))
            }
            Layer::Raid0 => {
                mapped::create_array("0", &[&format!("--chunk={}", CHUNK_BYTES >> 10)], lower)
            }
            Layer::Raid1 => mapped::create_array("1", &["--bitmap=none"], lower),
        }
    }

    fn mapped(&self, kind: &str) -> String {
        let name = format!("{:?}", self.test_target);
        let bytes = if self.has_filesystem {
            DISK_BYTES
        } else {
            DEVICE_BYTES
        };
        mapped::create(&name, &format!("0 {} {kind}", bytes / SECTOR_BYTES))
    }
}
