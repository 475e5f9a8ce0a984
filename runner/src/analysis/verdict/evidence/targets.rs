//! Devices, extents and page cache state of one direction's targets.

use leadline_protocol::{
    counters::Residency,
    evidence::{target::TargetReport, transition::Direction},
    plan::{
        job::{Mode, ResolvedJob},
        target::Target,
    },
    report::Report,
};
use std::collections::BTreeMap;

/// Filesystem type of overlays, whose files are stored on other filesystems.
pub(crate) const OVERLAY: &str = "overlay";

/// The engine or filesystem, if no job has a block device.
pub(super) fn no_device(jobs: &[&ResolvedJob]) -> Option<String> {
    if jobs.iter().all(|job| job.mode == Mode::Null) {
        return Some("ioengine=null".into());
    }
    if jobs.iter().flat_map(|job| &job.targets).any(has_device) {
        return None;
    }
    let filesystem = jobs.first()?.targets.first()?.filesystem.clone();
    Some(filesystem.unwrap_or_else(|| "the target".into()))
}

pub(super) fn null_job(jobs: &[&ResolvedJob]) -> Option<String> {
    let is_null = |job: &&&ResolvedJob| job.mode == Mode::Null;
    let null = jobs.iter().find(is_null)?;
    jobs.iter()
        .any(|job| job.mode != Mode::Null)
        .then(|| null.name.clone())
}

/// Whether a target may be on a block device: the device below an overlay can be outside this mount
/// namespace.
fn has_device(target: &Target) -> bool {
    target.device.is_some() || target.filesystem.as_deref() == Some(OVERLAY)
}

/// Bytes issued by jobs whose targets have no block device.
pub(super) fn bytes_without_device(
    direction: Direction,
    report: &Report,
    jobs: &[ResolvedJob],
) -> u64 {
    let has_no_device = |job: &ResolvedJob| !job.targets.iter().any(has_device);
    let reports = report.jobs.iter().zip(jobs);
    reports
        .filter(|(_, job)| has_no_device(job))
        .map(|(report, _)| direction.select(&report.read, &report.write).bytes)
        .sum()
}

/// Whether the report has counters for each target's device.
pub(super) fn is_every_device_counted(report: &Report, targets: &[&TargetReport]) -> bool {
    let name = report.device.as_ref().map_or("", |device| &device.name);
    let is_counted = |target: &&TargetReport| {
        let device = target.device.as_deref();
        device.is_some_and(|device| name.split('+').any(|counted| counted == device))
    };
    targets.iter().all(is_counted)
}

/// Dirty bytes in the backing files at the end, counting each file once; `None` if one is unknown.
pub(super) fn backing_dirty_bytes(targets: &[&TargetReport]) -> Option<u64> {
    let mut files = BTreeMap::new();
    for target in targets {
        if target.direct.loop_direct_io == Some(false) {
            let backing = target.backing.as_ref()?;
            files.insert(&backing.path, backing.end?.pending_write_bytes()?);
        }
    }
    Some(files.values().sum())
}

/// Residency at the start and end of the window; `None` if it is unknown for any target.
pub(super) fn residency(targets: &[&TargetReport]) -> Option<(Residency, Residency)> {
    let mut sum: Option<(Residency, Residency)> = None;
    for target in targets {
        let start = target.residency.start?;
        let end = target.residency.end?;
        sum = match sum {
            Some((start_sum, end_sum)) => Some((start_sum.merge(start), end_sum.merge(end))),
            None => Some((start, end)),
        };
    }
    sum
}

/// Share of holes and unwritten extents, excluding delayed allocation extents, whose data is in
/// memory.
pub(super) fn unwritten_share(targets: &[&TargetReport]) -> Option<f64> {
    let mut unwritten = 0;
    let mut region = 0;
    for target in targets {
        let extents = target.extents.before?;
        unwritten += extents.unwritten + extents.hole;
        region += target.region_bytes;
    }
    (region > 0).then(|| (unwritten as f64 / region as f64).min(1.0))
}

pub(super) fn encoded_share(targets: &[&TargetReport]) -> f64 {
    let mut encoded = 0;
    let mut region = 0;
    for target in targets {
        let extents = [target.extents.before, target.extents.after];
        let each = extents.into_iter().flatten();
        encoded += each
            .map(|extents| extents.inline + extents.encoded)
            .max()
            .unwrap_or(0);
        region += target.region_bytes;
    }
    encoded as f64 / region.max(1) as f64
}

pub(crate) fn falls_back_to_page_cache(direction: Direction, target: &TargetReport) -> bool {
    let direct = &target.direct;
    direction.select(direct.reads_past_cache, direct.writes_past_cache) == Some(false)
}
