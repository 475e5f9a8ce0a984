//! Page cache contents before the first I/O, and the page caches of block and loop devices.

use crate::analysis::{context::Context, findings::rerun, verdict::threshold::NEGLIGIBLE};
use leadline_protocol::{
    evidence::transition::Direction,
    finding::{
        Finding,
        Severity::{Note, Serious, Warning},
    },
    format::bytes,
    job::keyword::CacheState,
    plan::job::{Mode, ResolvedJob},
};
use serde_json::json;

/// Whether a relevant job has a ramp. Residency is read after the ramp, at the start of the
/// measured window, so it does not reflect the state before the job's first I/O.
fn has_ramp(context: &Context, is_relevant: impl Fn(&ResolvedJob) -> bool) -> bool {
    context.any_job(|job| job.timing.ramp_ms > 0 && job.mode != Mode::Null && is_relevant(job))
}

pub(crate) fn warm_cache(context: &Context) -> Option<Finding> {
    let evidence = &context.direction(Direction::Read)?.evidence;
    let (start, _) = evidence.residency?;
    let share = start.cached as f64 / evidence.region_bytes.max(1) as f64;
    let is_requested =
        context.any_job(|job| job.target.pre_read || job.target.cache_state == CacheState::Warm);
    let has_no_cache = evidence.direct || evidence.no_device.is_some();
    if has_no_cache || share < NEGLIGIBLE.value || is_requested {
        return None;
    }
    let mut when = "before the first read";
    let mut remedy =
        "Set cache_state=cold to start with an empty cache, or cache_state=warm to measure memory.";
    let mut patch = json!({"cache_state": "cold"});
    if has_ramp(context, |_| true) {
        when = "at the start of the measurement, after the ramp";
        remedy = "Remove ramp_time and set cache_state=cold to start with an empty cache, or set cache_state=warm to measure memory.";
        patch["ramp_time"] = json!(0);
    }
    let percent = (share * 100.0).min(100.0);
    let sentence = format!("{percent:.0} % of the region was in the page cache {when}.");
    Finding::new(
        Warning,
        "warm_cache",
        sentence,
        json!({"cached_bytes": start.cached, "region_bytes": evidence.region_bytes}),
        remedy,
    )
    .with_rerun(rerun::cold(patch))
}

/// Reports dirty pages, which `invalidate` keeps because it drops only clean pages. Skipped after a
/// ramp with writes, because the ramp may have dirtied the pages.
pub(crate) fn invalidate_keeps_dirty(context: &Context) -> Option<Finding> {
    let mut dirty = 0;
    for target in &context.report.targets {
        let is_invalidated = context.any_job(|job| {
            let is_buffered_read = !job.direct && job.pattern.rw.reads();
            job.target.invalidate && is_buffered_read && target.jobs.contains(&job.name)
        });
        if let (true, Some(start)) = (is_invalidated, target.residency.start) {
            dirty += start.pending_write_bytes().unwrap_or(0);
        }
    }
    if dirty == 0 || has_ramp(context, |job| job.pattern.rw.writes()) {
        return None;
    }
    let sentence = format!(
        "{} of the target was dirty, so invalidate kept it in memory.",
        bytes(dirty)
    );
    Finding::new(
        Warning,
        "invalidate_keeps_dirty",
        sentence,
        json!({"dirty_bytes": dirty}),
        "Set cache_state=cold, which writes dirty pages back first.",
    )
    .with_rerun(rerun::cold(json!({"cache_state": "cold"})))
}

pub(crate) fn raw_buffered(context: &Context) -> Option<Finding> {
    if !context.any_job(|job| job.mode == Mode::Raw && !job.direct) {
        return None;
    }
    let memory = context.report.memory;
    let grown = memory.map_or(0, |memory| {
        memory.end.buffers.saturating_sub(memory.start.buffers)
    });
    let sentence = format!(
        "The device was accessed through its page cache: the kernel counts the cached pages as Buffers (up by {}), not as Cached, and drops them when the last program closes the device.",
        bytes(grown)
    );
    Finding::new(
        Warning,
        "raw_buffered",
        sentence,
        json!({"buffers_grown_bytes": grown}),
        "Set direct=1 to bypass the page cache.",
    )
    .with_rerun(rerun::direct())
}

pub(crate) fn loop_without_direct_io(context: &Context) -> Option<Finding> {
    let mut targets = context.report.targets.iter();
    let target = targets.find(|target| target.direct.loop_direct_io == Some(false))?;
    let name = target.device.as_deref().unwrap_or("The loop device");
    let sentence = format!(
        "{name} accesses its backing file through this host's page cache, even with direct=1."
    );
    let severity = if context.any_job(|job| job.direct) {
        Serious
    } else {
        Note
    };
    let finding = Finding::new(
        severity,
        "loop_without_direct_io",
        sentence,
        None,
        "Attach it with losetup --direct-io=on.",
    );
    let command = target.device.as_deref().and_then(loop_direct_io_command);
    Some(finding.with_command(command))
}

/// Returns the command for a loop device or a partition of one; `None` for other devices stacked on
/// a loop device, because the stack must be recreated.
fn loop_direct_io_command(device: &str) -> Option<String> {
    let digits: String = device
        .strip_prefix("loop")?
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    (!digits.is_empty()).then(|| format!("losetup --direct-io=on /dev/loop{digits}"))
}
