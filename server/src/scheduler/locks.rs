//! A run's locks: the devices under its targets and all devices below those, so partitions of one
//! disk are never tested at the same time. A target without a device locks its filesystem type
//! instead, because two such filesystems may share memory or a lower filesystem. Pure.

use crate::scheduler::queue::{HOST_LOCK, Locks};
use leadline_protocol::{
    device::DeviceList,
    plan::{
        job::ResolvedJob,
        target::{Target, TargetKind},
    },
};

/// Whether `locks_for` requires the device list.
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
        locks.insert(HOST_LOCK.to_owned());
    }
    locks
}

/// Lock shared by all runs in a study, which makes them start in order.
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

    fn devices() -> DeviceList {
        DeviceList {
            devices: vec![
                device("vda", &[]),
                device("vda1", &["vda"]),
                device("vda2", &["vda"]),
                device("dm-0", &["vda2", "vdb"]),
                device("loop0", &["loop0"]),
            ],
        }
    }

    const JOB: &str = r#"{"name": "job", "mode": "buffered", "targets": [], "size": 1, "offset": 0,
        "offset_increment": 0, "invalidate": true, "pre_read": false, "fadvise_hint": "random",
        "drop_caches": false, "sync": "none", "end_fsync": false, "fallocate": "none",
        "overwrite": false, "file_append": false, "create_on_open": false, "unlink": false,
        "rw": "read", "bs": {"read": {"min": 1, "max": 1, "split": []},
        "write": {"min": 1, "max": 1, "split": []}, "trim": {"min": 1, "max": 1, "split": []}},
        "blockalign": {"read": 1, "write": 1, "trim": 1}, "random_distribution":
        {"read": {"kind": "random"}, "write": {"kind": "random"}, "trim": {"kind": "random"}},
        "percentage_random": {"read": 0, "write": 0, "trim": 0}, "norandommap": false,
        "randseed": 1, "io_size": 1, "time_based": false, "ramp_ms": 0, "startdelay_ms": 0,
        "loops": 1, "fsync": 0, "fdatasync": 0, "rate": {"read": null, "write": null,
        "trim": null}, "rate_iops": {"read": null, "write": null, "trim": null},
        "rate_process": "linear", "thinktime_us": 0, "thinktime_blocks": 1, "iodepth": 1,
        "ioengine": "psync", "zero_buffers": false, "refill_buffers": false,
        "buffer_compress_percentage": 0, "dedupe_percentage": 0, "numjobs": 1, "direct": false,
        "cpus_allowed": [], "nice": 0}"#;

    /// A job with one target.
    fn job(kind: TargetKind, filesystem: Option<&str>, device: Option<&str>) -> ResolvedJob {
        let mut job: ResolvedJob = serde_json::from_str(JOB).expect("a resolved job");
        job.targets = vec![Target {
            path: "/data/f".into(),
            kind,
            length: 1,
            existed: true,
            layout_bytes: 0,
            layout_offset: None,
            filesystem: filesystem.map(str::to_owned),
            device: device.map(str::to_owned),
            identity: None,
            alignment: 1,
            offset: 0,
            size: 1,
            worker: None,
        }];
        job
    }

    fn text(locks: Locks) -> String {
        locks.into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn targets_lock_their_device_or_their_filesystem() {
        let check = |jobs: &[ResolvedJob], expect: &str, with_devices: bool| {
            assert_eq!(text(locks_for(jobs, &devices())), expect);
            assert_eq!(uses_devices(jobs), with_devices, "{expect}");
        };
        let file = job(TargetKind::File, Some("ext4"), Some("vda1"));
        let in_memory = job(TargetKind::File, Some("tmpfs"), None);
        check(&[], "", false);
        check(&[job(TargetKind::Null, None, None)], "", false);
        check(std::slice::from_ref(&file), "vda vda1", true);
        check(std::slice::from_ref(&in_memory), "tmpfs", false);
        check(&[job(TargetKind::File, None, None)], "/data/f", false);
        check(&[in_memory, file.clone()], "tmpfs vda vda1", true);
        let mut dropping = job(TargetKind::Null, None, None);
        dropping.target.drop_caches = true;
        check(&[file, dropping], &format!("{HOST_LOCK} vda vda1"), true);
    }

    #[test]
    fn parent_devices_are_locked() {
        let devices = devices();
        for (name, expect) in [
            ("vda", "vda"),
            ("vda1", "vda vda1"),
            ("dm-0", "dm-0 vda vda2 vdb"),
            ("loop0", "loop0"),
            ("sdx", "sdx"),
        ] {
            let mut locks = Locks::new();
            add_with_parents(name, &devices, &mut locks);
            assert_eq!(text(locks), expect);
        }
    }
}
