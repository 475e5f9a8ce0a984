//! Confirmation of the devices that a run overwrites: the serial number of each, or its kernel name where it has none,
//! separated by commas. Pure.
//!
//! Optional: the guard admits only idle loop devices under a target root. The web form always sends it, empty as long as
//! nothing was typed; a rerun repeats what was confirmed before and sends none.

use leadline_protocol::device::DeviceList;
use leadline_protocol::plan::job::ResolvedJob;
use leadline_protocol::plan::target::{Target, TargetKind};
use leadline_protocol::problem::Problem;

/// Returns true if `problems` needs the list of devices.
pub(crate) fn is_required(confirm: Option<&str>, jobs: &[ResolvedJob]) -> bool {
    confirm.is_some() && overwritten(jobs).next().is_some()
}

/// One problem per device that would be overwritten and is not confirmed.
pub(crate) fn problems(
    confirm: Option<&str>,
    jobs: &[ResolvedJob],
    devices: &DeviceList,
) -> Vec<Problem> {
    let Some(confirm) = confirm else {
        return Vec::new();
    };
    let mut names: Vec<&str> = overwritten(jobs)
        .filter_map(|target| target.device.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| problem(confirm, name, devices))
        .collect()
}

fn problem(confirm: &str, name: &str, devices: &DeviceList) -> Option<Problem> {
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
    let remedy =
        format!("To overwrite {name}, enter its {kind}: {expected}. Separate several by commas.");
    Some(Problem::guard("not_confirmed", "confirm", detail, remedy))
}

fn overwritten(jobs: &[ResolvedJob]) -> impl Iterator<Item = &Target> {
    jobs.iter()
        .filter(|job| job.pattern.rw.destroys())
        .flat_map(|job| &job.targets)
        .filter(|target| target.kind == TargetKind::Device)
}
