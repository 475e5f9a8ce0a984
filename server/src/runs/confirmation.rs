//! Confirmation of the devices that a run overwrites: the serial number of each, or its kernel name
//! if it has none, separated by commas. Pure.
//!
//! The confirmation is optional, because the guard allows raw writes only to idle loop devices
//! under a target root. The web form always sends it, empty until the user enters something. Reruns
//! omit it, because the original run was confirmed.

use leadline_protocol::{
    device::DeviceList,
    plan::{job::ResolvedJob, target::TargetKind},
    problem::Problem,
};
use std::collections::BTreeSet;

/// Kernel names of the devices that the jobs overwrite.
pub(crate) fn overwritten_devices(jobs: &[ResolvedJob]) -> BTreeSet<&str> {
    jobs.iter()
        .filter(|job| job.pattern.rw.destroys())
        .flat_map(|job| &job.targets)
        .filter(|target| target.kind == TargetKind::Device)
        .filter_map(|target| target.device.as_deref())
        .collect()
}

/// Returns a problem if a device is not confirmed.
pub(crate) fn problem(confirm: &str, name: &str, devices: &DeviceList) -> Option<Problem> {
    let device = devices.devices.iter().find(|device| device.name == name);
    let serial = device.and_then(|device| device.serial.as_deref());
    let (kind, expected) = match serial {
        Some(serial) => ("serial number", serial),
        None => ("name", name),
    };
    if confirm.split(',').any(|part| part.trim() == expected) {
        return None;
    }
    let detail = match confirm.trim() {
        "" => format!("This would overwrite {name}, which is not confirmed."),
        typed => format!("This would overwrite {name}, but `{typed}` is not its {kind}."),
    };
    let remedy = format!(
        "To overwrite {name}, enter its {kind}: {expected}. Separate multiple values with commas."
    );
    Some(Problem::guard("not_confirmed", "confirm", detail, remedy))
}
