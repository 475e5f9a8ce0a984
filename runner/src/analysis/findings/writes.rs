//! Findings about block allocation, overwrites, dirty limits, and unflushed caches.

use crate::analysis::{
    context::{Context, DirectionAnalysis},
    findings::rerun,
    verdict::threshold::is_excess,
};
use leadline_protocol::{
    evidence::{target::TargetReport, transition::Direction},
    finding::{
        Finding,
        Severity::{Note, Warning},
    },
    format::{bytes, duration},
    job::{
        engine::EngineName,
        keyword::{FileState, SyncMode},
    },
    plan::{
        job::{Mode, ResolvedJob},
        target::TargetKind,
    },
    verdict::VerdictClass,
};
use serde_json::json;

/// Returns the files that jobs write to and that are stored on a block device.
fn written_files<'a>(context: &'a Context) -> impl Iterator<Item = &'a TargetReport> {
    context.report.targets.iter().filter(|target| {
        let is_written =
            |job: &ResolvedJob| job.pattern.rw.writes() && target.jobs.contains(&job.name);
        target.kind == TargetKind::File && target.device.is_some() && context.any_job(is_written)
    })
}

fn has_syncs(job: &ResolvedJob) -> bool {
    job.target.sync != SyncMode::None || job.pattern.fsync > 0 || job.pattern.fdatasync > 0
}

fn is_deferred(analysis: &DirectionAnalysis) -> bool {
    analysis.class == VerdictClass::DeferredWrite
}

pub(crate) fn initial_write(context: &Context) -> Option<Finding> {
    let mut files = written_files(context);
    let target = files.find(|target| target.state.is_written() == Some(false))?;
    let share = target.state.written_share?;
    let path = &target.path;
    let evidence = json!({"written_share": share});
    if context.any_job(|job| job.target.file_append) {
        let sentence = format!("{path} grew: every write allocated blocks.");
        return Some(Finding::new(
            Note,
            "append",
            sentence,
            evidence,
            "Remove file_append to overwrite existing blocks.",
        ));
    }
    let sentence = format!(
        "Initial write: {:.0} % of {path} held no data, so blocks were allocated. Running the same job again overwrites them, so the two runs are not comparable.",
        (1.0 - share) * 100.0
    );
    let finding = Finding::new(
        Warning,
        "initial_write",
        sentence,
        evidence,
        "Set file_state=overwrite to measure overwrites, or file_state=fresh to measure initial writes every time.",
    );
    // A patch applies to all jobs, and read-only jobs cannot overwrite.
    if context.any_job(|job| !job.pattern.rw.writes()) {
        return Some(finding);
    }
    finding.with_rerun(rerun::overwrite())
}

/// Does not apply if a job appends, or sets `file_state` or `overwrite`.
pub(crate) fn overwrite(context: &Context) -> Option<Finding> {
    let is_explicit = context.any_job(|job| {
        let target = &job.target;
        let is_requested = target.file_state != FileState::AsIs || target.overwrite;
        target.file_append || job.pattern.rw.writes() && is_requested
    });
    if is_explicit {
        return None;
    }
    let is_full =
        |target: &&TargetReport| target.state.existed && target.state.is_written() == Some(true);
    let target = written_files(context).find(is_full)?;
    let sentence = format!(
        "{} existed and was fully written; this run overwrote it. Writes to a new file also allocate blocks, so its first run is not comparable.",
        target.path
    );
    Some(Finding::new(
        Note,
        "overwrite",
        sentence,
        None,
        "Set file_state=overwrite to ensure overwrites, or file_state=fresh to measure initial writes.",
    ))
}

/// Before a buffered write to part of an uncached page, or a write through a mapping, the kernel
/// reads the page.
pub(crate) fn read_before_write(context: &Context) -> Option<Finding> {
    let read = context.report.storage?.read_bytes;
    let written = context.report.write.bytes;
    let is_partial = |job: &ResolvedJob| {
        let sizes = &job.pattern.bs.write;
        let page = page_bytes(context);
        let is_whole = sizes.min.is_multiple_of(page) && sizes.max.is_multiple_of(page);
        let is_mapped = job.ring.ioengine == EngineName::Mmap;
        !job.direct && job.pattern.rw.writes() && (!is_whole || is_mapped)
    };
    let reads_nothing = context.report.read.ios == 0;
    if !reads_nothing || !is_excess(written + read, written) || !context.any_job(is_partial) {
        return None;
    }
    let sentence = format!(
        "Pages that were not cached had to be read before they could be written: {} read for {} written.",
        bytes(read),
        bytes(written)
    );
    Some(Finding::new(
        Warning,
        "read_before_write",
        sentence,
        json!({"read_bytes": read, "written_bytes": written}),
        "Write whole pages without mapping the file, or set direct=1.",
    ))
}

fn page_bytes(context: &Context) -> u64 {
    let layers = context
        .report
        .jobs
        .iter()
        .find_map(|job| job.layers.as_ref());
    layers.map_or(4096, |layers| layers.page_bytes.max(1))
}

pub(crate) fn not_flushed(context: &Context) -> Option<Finding> {
    let dirty = context.report.flush?.dirty_bytes?;
    let is_unsynced = context.any_job(|job| {
        let is_buffered_write = job.pattern.rw.writes() && !job.direct;
        is_buffered_write && !job.target.end_fsync && !has_syncs(job)
    });
    if dirty == 0 || !is_unsynced || context.directions.iter().any(is_deferred) {
        return None;
    }
    let sentence = format!(
        "{} were not yet written when the measurement ended, and no flush followed.",
        bytes(dirty)
    );
    Finding::new(
        Note,
        "not_flushed",
        sentence,
        json!({"dirty_bytes": dirty}),
        "Set end_fsync=1: the flush is a separate phase with its own time.",
    )
    .with_rerun(rerun::flushed())
}

/// The kernel throttles writers above the midpoint of its two limits (balance_dirty_pages,
/// dirty_freerun_ceiling), or earlier if the device has its own limit (/sys/class/bdi).
pub(crate) fn writeback_throttled(context: &Context) -> Option<Finding> {
    let memory = context.report.memory?;
    let background = context.host.dirty_background_bytes?;
    let limit = context.host.dirty_bytes?;
    let is_buffered =
        context.any_job(|job| job.pattern.rw.writes() && !job.direct && job.mode != Mode::Null);
    let ceiling = background.midpoint(limit);
    let start = memory.start.dirty + memory.start.writeback;
    let dirty = start.max(memory.end.dirty + memory.end.writeback);
    let writeback = context.report.writeback;
    let throttled_ms = writeback
        .and_then(|writeback| writeback.throttled_ms)
        .unwrap_or(0.0);
    if !is_buffered || (dirty < ceiling && throttled_ms == 0.0) {
        return None;
    }
    let sentence = if throttled_ms > 0.0 {
        format!(
            "The kernel throttled writers for {} in total until writeback caught up: the result measures writeback speed.",
            duration(throttled_ms)
        )
    } else {
        format!(
            "Dirty memory reached {} of {}: above {} the kernel throttles writers, so the result measures writeback speed.",
            bytes(dirty),
            bytes(limit),
            bytes(ceiling)
        )
    };
    Some(Finding::new(
        Note,
        "writeback_throttled",
        sentence,
        json!({"dirty_bytes": dirty, "ceiling_bytes": ceiling, "throttled_ms": throttled_ms}),
        "Long buffered writes are limited by writeback; direct=1 measures the device without it.",
    ))
}

/// Below the background limit, the kernel writes only pages older than dirty_expire_centisecs.
pub(crate) fn dirty_limit_not_reached(context: &Context) -> Option<Finding> {
    let memory = context.report.memory?;
    let background = context.host.dirty_background_bytes?;
    let dirty = memory.start.dirty.max(memory.end.dirty);
    let is_buffered =
        |analysis: &DirectionAnalysis| is_deferred(analysis) && !analysis.evidence.direct;
    if dirty >= background || !context.directions.iter().any(is_buffered) {
        return None;
    }
    let sentence = format!(
        "At the start and end of the measurement, at most {} of memory was dirty, below the writeback threshold of {}.",
        bytes(dirty),
        bytes(background)
    );
    Some(Finding::new(
        Warning,
        "dirty_limit_not_reached",
        sentence,
        json!({"dirty_bytes": dirty, "background_bytes": background}),
        "Write several times that amount, or run longer, to measure the device's sustained rate.",
    ))
}

/// The kernel counts flushes only for disks, not for partitions or for dm and md devices.
pub(crate) fn device_cache(context: &Context) -> Option<Finding> {
    let write = context.direction(Direction::Write)?;
    let is_on_device = write.evidence.direct && write.class == VerdictClass::Device;
    let is_synced =
        |job: &ResolvedJob| job.pattern.rw.writes() && (has_syncs(job) || job.target.end_fsync);
    if !is_on_device || context.any_job(is_synced) {
        return None;
    }
    let device = context.report.device.as_ref()?;
    let disks = &device.physical_devices;
    let flushes: u64 = disks.iter().map(|disk| disk.counts.flush_ios).sum();
    if disks.is_empty() || flushes + device.counts.flush_ios > 0 {
        return None;
    }
    let names: Vec<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
    let sentence = format!(
        "{} received no flush: written data may still be in its volatile cache.",
        names.join("+")
    );
    Some(Finding::new(
        Note,
        "device_cache",
        sentence,
        json!({"flush_ios": 0}),
        "Set fdatasync=1 to measure durable writes, or run until the cache is full.",
    ))
}
