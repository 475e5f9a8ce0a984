//! Counters of devices, the process and backing files in one direction.

use leadline_protocol::{
    counters::{DeviceFlow, Residency},
    evidence::{
        target::{BackingFile, TargetReport},
        transition::Direction,
    },
    report::Report,
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

/// The physical devices together; `None` if they are the targets' devices themselves.
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

/// `/proc/self/io` counts a buffered write when its page becomes dirty, and again only after the
/// page was written back. Pages that are still dirty at the end have not reached the device.
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

/// Reads: allocated bytes of the backing files that were not cached. Writes: bytes written to the
/// loop devices, minus the bytes that are still dirty in the backing files. Each backing file
/// counts once.
pub(super) fn backing_storage_bytes(
    direction: Direction,
    report: &Report,
    targets: &[&TargetReport],
) -> Option<u64> {
    let mut files: BTreeMap<&str, &BackingFile> = BTreeMap::new();
    for target in targets {
        if target.direct.loop_direct_io == Some(false) {
            let backing = target.backing.as_ref()?;
            files.insert(&backing.path, backing);
        }
    }
    if files.is_empty() {
        return None;
    }
    let written = report.device.as_ref()?.counts.write_bytes;
    let mut uncached = 0;
    let mut pending_start = 0;
    let mut pending_end = 0;
    for backing in files.values() {
        let (start, end) = backing.start.zip(backing.end)?;
        uncached += backing.allocated_bytes.saturating_sub(start.cached);
        if direction == Direction::Write {
            pending_start += start.pending_write_bytes()?;
            pending_end += end.pending_write_bytes()?;
        }
    }
    let written_back = (written + pending_start).saturating_sub(pending_end);
    Some(direction.select(uncached, written_back))
}
