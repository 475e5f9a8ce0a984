//! What a run must have for itself, told from its plan: the devices under its targets with everything these lie on, so
//! that two partitions of one disk do not run side by side. Pure.

use crate::scheduler::queue::Locks;
use leadline_protocol::host::DeviceList;
use leadline_protocol::plan::resolved::{ResolvedJob, Target, TargetKind};

/// Whether any target lies on a device, so that the list of devices is needed.
pub fn touches_devices(jobs: &[ResolvedJob]) -> bool {
    targets(jobs).any(|target| target.device.is_some())
}

/// The locks of these jobs on a host with these devices.
pub fn locks_of(jobs: &[ResolvedJob], devices: &DeviceList) -> Locks {
    let mut locks = Locks::new();
    for target in targets(jobs) {
        match (&target.device, target.kind) {
            (Some(device), _) => add_with_parents(device, devices, &mut locks),
            (None, TargetKind::Null) => {}
            (None, _) => {
                locks.insert(target.path.clone());
            }
        }
    }
    locks
}

/// What all runs of a study hold: they follow each other in their order, and nobody comes between.
pub fn of_study(number: u64) -> String {
    format!("study #{number}")
}

fn targets(jobs: &[ResolvedJob]) -> impl Iterator<Item = &Target> {
    jobs.iter().flat_map(|job| &job.targets)
}

fn add_with_parents(name: &str, devices: &DeviceList, locks: &mut Locks) {
    if !locks.insert(name.to_owned()) {
        return;
    }
    let parents = devices
        .devices
        .iter()
        .filter(|device| device.name == name)
        .flat_map(|device| &device.parents);
    parents.for_each(|parent| add_with_parents(parent, devices, locks));
}

#[cfg(test)]
mod tests {
    use leadline_protocol::host::{Access, Device, DeviceKind};

    use super::*;

    fn device(name: &str, parents: &[&str]) -> Device {
        let allowed = Access {
            allowed: true,
            reason: None,
        };
        Device {
            name: name.into(),
            path: format!("/dev/{name}"),
            dev: "1:1".into(),
            kind: DeviceKind::Other,
            identity: None,
            links: Vec::new(),
            size_bytes: 0,
            model: None,
            serial: None,
            rotational: None,
            removable: None,
            read_only: false,
            scheduler: None,
            logical_block_bytes: None,
            physical_block_bytes: None,
            write_cache: None,
            read_ahead_bytes: None,
            nr_requests: None,
            mounts: Vec::new(),
            filesystem: None,
            backing_file: None,
            used_by: Vec::new(),
            read_access: allowed.clone(),
            write_access: allowed,
            parents: parents.iter().map(|parent| (*parent).into()).collect(),
        }
    }

    #[test]
    fn a_device_brings_everything_it_lies_on() {
        let devices = DeviceList {
            devices: vec![
                device("vda", &[]),
                device("vda1", &["vda"]),
                device("vda2", &["vda"]),
                device("dm-0", &["vda2", "vdb"]),
                device("loop0", &["loop0"]),
            ],
        };
        for (name, expect) in [
            ("vda", "vda"),
            ("vda1", "vda vda1"),
            ("dm-0", "dm-0 vda vda2 vdb"),
            ("loop0", "loop0"),
            ("sdx", "sdx"),
        ] {
            let mut locks = Locks::new();
            add_with_parents(name, &devices, &mut locks);
            assert_eq!(locks.into_iter().collect::<Vec<_>>().join(" "), expect);
        }
    }
}
