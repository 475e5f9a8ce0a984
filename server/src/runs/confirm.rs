//! What somebody typed to confirm that a device may be overwritten: where it is given, it must be that device's serial, or its
//! kernel name where it has none; of several devices all of them, with commas between. Pure.
//!
//! Nobody has to give it: the guard admits only idle loop devices under a target root. The form always gives it, empty as long
//! as nothing was typed; a rerun does again what was confirmed before, and gives none.

use leadline_protocol::host::DeviceList;
use leadline_protocol::plan::resolved::{ResolvedJob, Target, TargetKind};
use leadline_protocol::problem::Problem;

/// Whether there is anything to hold against the devices of the host.
pub fn is_to_be_checked(confirm: Option<&str>, jobs: &[ResolvedJob]) -> bool {
    confirm.is_some() && overwritten(jobs).next().is_some()
}

/// One for each device that would be overwritten and is not the one that was confirmed.
pub fn problems(confirm: Option<&str>, jobs: &[ResolvedJob], devices: &DeviceList) -> Vec<Problem> {
    let Some(typed) = confirm else {
        return Vec::new();
    };
    let mut names: Vec<&str> = overwritten(jobs)
        .filter_map(|target| target.device.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| problem(typed, name, devices))
        .collect()
}

fn problem(typed: &str, name: &str, devices: &DeviceList) -> Option<Problem> {
    let serial = devices
        .devices
        .iter()
        .find(|device| device.name == name)
        .and_then(|device| device.serial.as_deref());
    let (what, expected) = serial.map_or(("name", name), |serial| ("serial", serial));
    if typed.split(',').any(|word| word.trim() == expected) {
        return None;
    }
    let sentence = match typed.trim() {
        "" => format!("This would overwrite {name}, which nobody has confirmed."),
        typed => format!("`{typed}` is not the {what} of {name}, which this would overwrite."),
    };
    let remedy =
        format!("If {name} is meant, type its {what}: {expected}. Put commas between several.");
    Some(Problem::guard("not_confirmed", "confirm", sentence, remedy))
}

fn overwritten(jobs: &[ResolvedJob]) -> impl Iterator<Item = &Target> {
    let writing = jobs.iter().filter(|job| job.rw.destroys());
    writing
        .flat_map(|job| &job.targets)
        .filter(|target| target.kind == TargetKind::Device)
}
