//! Determines which devices must not be written to, based on the bytes that they share. Implements
//! the rules in docs/safety.md without using the guard:
//!
//! - A device is claimed if it is mounted in any namespace, is active swap space, or belongs to a
//!   mounted btrfs filesystem.
//! - A device is busy if it is claimed, if an md, dm or loop device is built on it, or if one of
//!   its partitions is busy.
//! - A write to a device changes everything below it: a partition's disk, the members of an md or
//!   dm device, a loop device's backing device or file. A device must therefore not be written to
//!   if anything else uses those bytes. Other partitions of the disk and other dm devices on a
//!   member do not share bytes with it.

use super::model::{Backing, Host, Kind};

impl Host {
    /// Whether bytes that a write to the device would change are in use.
    pub(super) fn is_in_use(&self, device: usize) -> bool {
        self.is_busy(device) || self.is_shared_below(device)
    }

    fn is_claimed(&self, device: usize) -> bool {
        let node = &self.nodes[device];
        node.is_mounted()
            || node.swap.is_some()
            || self.pools.iter().any(|pool| pool.contains(&device))
    }

    fn is_busy(&self, device: usize) -> bool {
        self.is_claimed(device)
            || self.holders(device).next().is_some()
            || self.loops_on(Backing::Device(device)).next().is_some()
            || self.has_busy_partition(device)
    }

    fn has_busy_partition(&self, device: usize) -> bool {
        let is_partition = |node: &usize| self.nodes[*node].kind == Kind::Partition { of: device };
        let mut partitions = (0..self.nodes.len()).filter(is_partition);
        partitions.any(|partition| self.is_busy(partition))
    }

    /// md and dm devices on a device.
    pub(super) fn holders(&self, device: usize) -> impl Iterator<Item = usize> {
        let holds = move |node: &usize| match &self.nodes[*node].kind {
            Kind::Md { on } | Kind::Dm { on } => on.contains(&device),
            _ => false,
        };
        (0..self.nodes.len()).filter(holds)
    }

    fn loops_on(&self, backing: Backing) -> impl Iterator<Item = usize> {
        let is_on = move |node: &usize| self.nodes[*node].kind == Kind::Loop { backing };
        (0..self.nodes.len()).filter(is_on)
    }

    /// Whether bytes below the device are used by anything other than the device itself.
    fn is_shared_below(&self, device: usize) -> bool {
        let is_other = |node: &usize| *node != device;
        let is_looped = |lower| {
            let mut others = self.loops_on(Backing::Device(lower)).filter(is_other);
            others.next().is_some()
        };
        match &self.nodes[device].kind {
            Kind::Disk => false,
            Kind::Partition { of } => {
                self.is_claimed(*of)
                    || self.holders(*of).next().is_some()
                    || is_looped(*of)
                    || self.is_shared_below(*of)
            }
            Kind::Md { on } | Kind::Dm { on } => on.iter().any(|&member| {
                self.is_claimed(member)
                    || is_looped(member)
                    || self.has_busy_partition(member)
                    || self.is_shared_below(member)
            }),
            Kind::Loop {
                backing: Backing::Device(lower),
            } => {
                self.is_claimed(*lower)
                    || self.holders(*lower).next().is_some()
                    || is_looped(*lower)
                    || self.has_busy_partition(*lower)
                    || self.is_shared_below(*lower)
            }
            Kind::Loop {
                backing: Backing::File(file),
            } => {
                self.files[*file].is_swap
                    || self
                        .loops_on(Backing::File(*file))
                        .any(|node| node != device)
            }
        }
    }

    /// Whether the kernel rejects writes to the device or, for a partition, to its disk.
    pub(super) fn is_read_only(&self, device: usize) -> bool {
        let node = &self.nodes[device];
        match node.kind {
            Kind::Partition { of } => node.read_only || self.nodes[of].read_only,
            _ => node.read_only,
        }
    }

    /// Whether another disk has the same serial number. A partition has its disk's serial number.
    pub(super) fn is_ambiguous(&self, device: usize) -> bool {
        let serial = &self.nodes[self.disk_of(device)].serial;
        let same = self.nodes.iter().filter(|node| node.serial == *serial);
        serial.is_some() && same.count() > 1
    }

    /// Whether the device has an identity. Loop, md and dm devices always have one.
    pub(super) fn has_identity(&self, device: usize) -> bool {
        let disk = &self.nodes[self.disk_of(device)];
        disk.kind != Kind::Disk || disk.serial.is_some()
    }

    fn disk_of(&self, device: usize) -> usize {
        match self.nodes[device].kind {
            Kind::Partition { of } => of,
            _ => device,
        }
    }

    /// Whether a file backs a loop device, directly or through another name.
    pub(super) fn backs_loop(&self, file: usize) -> bool {
        self.loops_on(Backing::File(file)).next().is_some()
    }
}
