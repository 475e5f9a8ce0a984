//! Counters of the block devices below the targets, and of the physical devices below partitions,
//! dm, md and loop devices.

use crate::system::{
    host::{inventory::Inventory, kernel::Dev},
    probes::{
        block_stat::{self, parse, sum},
        kernel_file::KernelFile,
    },
};
use leadline_protocol::counters::DeviceCounts;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Target devices, except those stacked on another target device, which counts the same I/O.
    summed: Vec<String>,
    physical_devices: Vec<String>,
    /// All devices without duplicates, in the order of readings.
    pub all: Vec<String>,
    /// The disk of each device: a partition's disk, or the device itself.
    pub disks: Vec<(String, Dev)>,
}

impl Names {
    /// Sum over the target devices; `None` if there are none, or if one of them cannot be read.
    pub(crate) fn device(&self, counts: &[Option<DeviceCounts>]) -> Option<DeviceCounts> {
        let devices = self
            .summed
            .iter()
            .map(|name| self.device_counts(name, counts));
        let counts = devices.collect::<Option<Vec<_>>>()?;
        counts.into_iter().reduce(sum)
    }

    /// Counts by kernel name, excluding devices that cannot be read.
    pub(crate) fn physical_devices(
        &self,
        counts: &[Option<DeviceCounts>],
    ) -> Vec<(String, DeviceCounts)> {
        let names = self.physical_devices.iter();
        names
            .filter_map(|name| Some((name.clone(), self.device_counts(name, counts)?)))
            .collect()
    }

    fn device_counts(&self, name: &str, counts: &[Option<DeviceCounts>]) -> Option<DeviceCounts> {
        counts[self.all.iter().position(|known| known == name)?]
    }
}

/// The open `stat` files of a run's devices.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    pub names: Arc<Names>,
    files: Vec<KernelFile>,
}

impl Disks {
    /// `devices`: kernel names of the target devices. If one of the target or physical devices
    /// cannot be read, all devices of that kind are omitted, and `absent` contains the reason.
    pub(crate) fn open(
        host: &Inventory,
        devices: &[String],
        absent: &mut BTreeMap<String, String>,
    ) -> Self {
        let members = devices
            .iter()
            .flat_map(|name| host.filesystem_members(name));
        let targets: BTreeSet<String> = members.collect();
        let lowest = targets.iter().flat_map(|name| host.physical_devices(name));
        let physical_devices: BTreeSet<String> = lowest.collect();
        let mut files = BTreeMap::new();
        let mut open = |key: &str, names: BTreeSet<String>| match open_all(host, &names, &mut files)
        {
            Ok(()) => names.into_iter().collect(),
            Err(reason) => {
                absent.insert(key.into(), reason);
                Vec::new()
            }
        };
        let targets = open("device", targets);
        let physical_devices = open("physical_devices", physical_devices);
        let is_above_another = |name: &String| {
            let lower = host.lower_devices(name);
            let mut others = targets.iter().filter(|other| *other != name);
            others.any(|other| lower.contains(other))
        };
        let summed = targets.iter().filter(|name| !is_above_another(name));
        let summed = summed.cloned().collect();
        let (all, files): (Vec<String>, _) = files.into_iter().unzip();
        let disks = all.iter().map(|name| disk_of(host, name)).collect();
        Self {
            names: Arc::new(Names {
                summed,
                physical_devices,
                all,
                disks,
            }),
            files,
        }
    }

    /// Kernel names of the devices that `Names::device` sums, sorted.
    pub(crate) fn summed_devices(&self) -> &[String] {
        &self.names.summed
    }

    /// Reads all counters, in the order of `Names::all`.
    pub(crate) fn read(&mut self) -> Vec<Option<DeviceCounts>> {
        let files = self.files.iter_mut();
        files.map(|file| parse(file.read()?)).collect()
    }
}

/// `name`: a device in `host`.
fn disk_of(host: &Inventory, name: &str) -> (String, Dev) {
    let block = &host.blocks[name];
    let disk = block.disk.as_ref().and_then(|disk| host.blocks.get(disk));
    let disk = disk.unwrap_or(block);
    (disk.name.clone(), disk.dev)
}

fn open_all(
    host: &Inventory,
    names: &BTreeSet<String>,
    files: &mut BTreeMap<String, KernelFile>,
) -> Result<(), String> {
    if names.is_empty() {
        return Err("no block device is visible below the targets".into());
    }
    for name in names {
        let Some(block) = host.blocks.get(name) else {
            return Err(format!("{name} is not a block device on this host"));
        };
        if !block.has_iostats {
            return Err(format!(
                "{name} does not count I/Os. Write 1 to {}/iostats",
                block.queue().display()
            ));
        }
        let file = KernelFile::open(&block.dir.join("stat"), block_stat::BYTES)
            .map_err(|error| format!("the counters of {name} cannot be read: {error}"))?;
        files.insert(name.clone(), file);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn sums_targets_and_finds_physical_devices() {
        let mut files = STACK.to_string();
        for (disk, ios) in [
            ("sda", 1),
            ("sda/sda1", 2),
            ("dm-0", 3),
            ("dm-1", 4),
            ("sdb", 5),
            ("sdc", 6),
            ("md0", 7),
            ("sdd", 8),
            ("sde", 9),
        ] {
            files += &format!("\n sys/devices/{disk}/stat = {ios} 0 0 0 0 0 0 0 0 0 0");
        }
        let host = Fixture::new(&files);
        let check = |targets: &[&str], device: u64, physical_devices: &[(&str, u64)]| {
            let mut absent = BTreeMap::new();
            let mut disks = Disks::open(
                &host.inventory(),
                &targets.iter().map(ToString::to_string).collect::<Vec<_>>(),
                &mut absent,
            );
            let counts = disks.read();
            let found: Vec<(String, u64)> = disks
                .names
                .physical_devices(&counts)
                .into_iter()
                .map(|(name, counts)| (name, counts.read_ios))
                .collect();
            assert_eq!(
                disks.names.device(&counts).unwrap().read_ios,
                device,
                "{targets:?}"
            );
            assert_eq!(
                found,
                physical_devices
                    .iter()
                    .map(|(name, ios)| (name.to_string(), *ios))
                    .collect::<Vec<_>>(),
                "{targets:?}"
            );
            assert!(absent.is_empty());
        };
        check(&["sda"], 1, &[("sda", 1)]);
        check(&["sda1"], 2, &[("sda", 1)]);
        check(&["dm-1"], 4, &[("sda", 1)]);
        check(&["md0"], 7, &[("sdb", 5), ("sdc", 6)]);
        check(
            &["dm-1", "md0", "md0"],
            11,
            &[("sda", 1), ("sdb", 5), ("sdc", 6)],
        );
        check(&["sdd"], 17, &[("sdd", 8), ("sde", 9)]);
        // I/O on a device that is stacked on another target is counted at the lower device.
        check(&["sda", "sda1"], 1, &[("sda", 1)]);
        check(&["dm-1", "sda"], 1, &[("sda", 1)]);
        check(&["dm-0", "dm-1", "sda1"], 5, &[("sda", 1)]);
        check(
            &["md0", "sdb", "sdc", "sda1"],
            13,
            &[("sda", 1), ("sdb", 5), ("sdc", 6)],
        );
    }

    #[test]
    fn older_kernels_ignore_iostats_for_dm_and_md() {
        let off = |device: &str, release: &str| {
            format!(
                "{STACK}\n sys/devices/{device}/stat = 1 0 0 0 0 0 0 0 0 0 0\n sys/devices/sda/stat = 1 0 0 0 0 0 0 0 0 0 0
                sys/devices/{device}/queue/iostats = 0\n proc/sys/kernel/osrelease = {release}"
            )
        };
        for (device, release, has_iostats) in [
            ("dm-0", "6.1.0-48-amd64", true),
            ("dm-0", "6.4.16", true),
            ("dm-0", "6.5.0", false),
            ("dm-0", "6.18.44", false),
            ("md0", "5.10.0-35-amd64", true),
            ("md0", "5.14.0", false),
            ("sda", "5.10.0-35-amd64", false),
        ] {
            let host = Fixture::new(&off(device, release));
            let mut absent = BTreeMap::new();
            Disks::open(&host.inventory(), &[device.to_string()], &mut absent);
            let reason = absent.get("device").map_or("", String::as_str);
            assert_eq!(
                !reason.contains("iostats"),
                has_iostats,
                "{device} {release}: {reason}"
            );
        }
    }

    #[test]
    fn unreadable_devices_have_a_reason() {
        let host = Fixture::new(&format!(
            "{STACK}\n sys/devices/sda/stat = 1 0 0 0 0 0 0 0 0 0 0\n sys/devices/sda/queue/iostats = 0"
        ));
        for (targets, part) in [
            (vec![], "no block device is visible below the targets"),
            (vec!["sdz".to_string()], "sdz"),
            (vec!["sdb".into()], "No such file"),
            (vec!["sda".into()], "iostats"),
        ] {
            let mut absent = BTreeMap::new();
            let mut disks = Disks::open(&host.inventory(), &targets, &mut absent);
            assert!(absent["device"].contains(part), "{absent:?}");
            let counts = disks.read();
            assert_eq!(disks.names.device(&counts), None);
        }
    }
}
