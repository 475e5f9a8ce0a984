//! The locks of a run: the devices under its targets and all devices below those, so that
//! partitions of one disk are not tested at the same time. Targets without a device lock their
//! filesystem type, because such filesystems may share memory or a lower filesystem. Pure.

use crate::scheduler::queue::{HOST, Locks};
use leadline_protocol::{
    device::DeviceList,
    plan::{
        job::ResolvedJob,
        target::{Target, TargetKind},
    },
};

/// Whether `locks_for` needs the device list.
pub(crate) fn uses_devices(jobs: &[ResolvedJob]) -> bool {
    targets(jobs).any(|target| target.device.is_some())
}

pub(crate) fn locks_for(jobs: &[ResolvedJob], devices: &DeviceList) -> Locks {
    let mut locks = Locks::new();
    for target in targets(jobs) {
        match (&target.device, target.kind) {
            (Some(device), _) => add_with_parents(device, devices, &mut locks),
            (None, TargetKind::Null) => {}
            (None, _) => {
                locks.insert(target.filesystem.as_ref().unwrap_or(&target.path).clone());
            }
        }
    }
    if jobs.iter().any(|job| job.target.drop_caches) {
        locks.insert(HOST.to_owned());
    }
    locks
}

/// A lock shared by all runs of a study, which keeps them in order.
pub(crate) fn study_lock(number: u64) -> String {
    format!("study #{number}")
}

fn targets(jobs: &[ResolvedJob]) -> impl Iterator<Item = &Target> {
    jobs.iter().flat_map(|job| &job.targets)
}

fn add_with_parents(name: &str, devices: &DeviceList, locks: &mut Locks) {
    if !locks.insert(name.to_owned()) {
        return;
    }
    for device in devices.devices.iter().filter(|device| device.name == name) {
        for parent in &device.parents {
            add_with_parents(parent, devices, locks);
        }
    }
}

#[cfg(test)]
mod tests {
    use leadline_protocol::device::{Access, Device, DeviceKind};

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
    fn parent_devices_are_locked() {
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
