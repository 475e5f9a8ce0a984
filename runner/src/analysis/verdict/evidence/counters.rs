//! Device, process and control group counters of one direction.

use leadline_protocol::{
    counters::{DeviceFlow, Residency},
    evidence::transition::Direction,
    report::{Report, device::CgroupReport},
};
use std::collections::BTreeMap;

/// Counters of one or more devices in one direction.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Counted {
    pub name: String,
    pub ios: u64,
    pub bytes: u64,
    /// I/Os merged into other I/Os before they reached the device.
    pub merges: u64,
}

impl Counted {
    fn new(name: String, flow: DeviceFlow) -> Self {
        let DeviceFlow { ios, merges, bytes } = flow;
        Self {
            name,
            ios,
            bytes,
            merges,
        }
    }
}

pub(super) fn device(direction: Direction, report: &Report) -> Result<Counted, String> {
    let missing = || reason(report, "device", "the device counters are missing");
    let device = report.device.as_ref().ok_or_else(missing)?;
    Ok(Counted::new(
        device.name.clone(),
        device.counts.of(direction),
    ))
}

/// The sum of the physical devices; `None` if they are the targets' devices themselves.
pub(super) fn lower_devices(direction: Direction, report: &Report) -> Option<Counted> {
    let device = report.device.as_ref()?;
    let physical = &device.physical_devices;
    let names: Vec<&str> = physical
        .iter()
        .map(|physical| physical.name.as_str())
        .collect();
    if device.name.split('+').all(|name| names.contains(&name)) {
        return None;
    }
    let flow = physical
        .iter()
        .map(|physical| physical.counts.of(direction))
        .reduce(|sum, flow| sum + flow)?;
    Some(Counted::new(names.join("+"), flow))
}

/// Bytes that the kernel charged to the run's control group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ChargedBytes {
    /// On the targets' devices.
    pub device: u64,
    /// On the physical devices.
    pub lower: u64,
}

pub(super) fn charged(direction: Direction, report: &Report) -> Option<ChargedBytes> {
    let group = report.cgroup.as_ref()?;
    let device = report.device.as_ref()?;
    let targets: Vec<&str> = device.name.split('+').collect();
    let physical = device.physical_devices.iter();
    let physical: Vec<&str> = physical.map(|physical| physical.name.as_str()).collect();
    Some(ChargedBytes {
        device: bytes_on(direction, group, &targets),
        lower: bytes_on(direction, group, &physical),
    })
}

/// All partitions of a disk share its counters.
fn bytes_on(direction: Direction, group: &CgroupReport, names: &[&str]) -> u64 {
    let used = group.devices.iter();
    let used = used.filter(|device| names.contains(&device.device.as_str()));
    let disks: BTreeMap<&str, u64> = used
        .map(|device| {
            let counts = &device.counts;
            let bytes = direction.select(counts.read_bytes, counts.write_bytes);
            (device.disk.as_str(), bytes)
        })
        .collect();
    disks.values().sum()
}

/// `/proc/self/io` counts a buffered write when its page becomes dirty, and counts it again only if
/// it re-dirties the page after writeback. Pages that are still dirty at the end have not reached
/// the device.
pub(super) fn own_bytes(
    direction: Direction,
    report: &Report,
    residency: Option<(Residency, Residency)>,
    direct: bool,
) -> Result<u64, String> {
    let missing = || reason(report, "storage", "the process counters are missing");
    let storage = report.storage.ok_or_else(missing)?;
    if direction == Direction::Read {
        return Ok(storage.read_bytes);
    }
    let dirtied = storage
        .write_bytes
        .saturating_sub(storage.cancelled_write_bytes);
    let pending = residency
        .and_then(|(start, end)| Some((start.pending_write_bytes()?, end.pending_write_bytes()?)));
    match pending {
        Some((start, end)) => Ok((dirtied + start).saturating_sub(end)),
        None if direct => Ok(dirtied),
        None => Err(reason(
            report,
            "residency",
            "the amount of dirty data is unknown",
        )),
    }
}

fn reason(report: &Report, counter: &str, default: &str) -> String {
    report
        .absent
        .get(counter)
        .map_or(default, String::as_str)
        .into()
}

/// Bytes read from storage by this process; for writes, bytes that it dirtied or wrote directly.
pub(super) fn process_bytes(direction: Direction, report: &Report) -> Result<u64, String> {
    let missing = || reason(report, "storage", "the process counters are missing");
    let storage = report.storage.ok_or_else(missing)?;
    Ok(direction.select(storage.read_bytes, storage.write_bytes))
}
