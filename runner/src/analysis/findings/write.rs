//! What writes met: blocks to be allocated or overwritten, memory that took them, limits that slowed them, and caches that
//! nobody asked to flush.

use crate::analysis::case::Case;
use crate::analysis::findings::rerun;
use leadline_protocol::evidence::Direction;
use leadline_protocol::evidence::TargetReport;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::{Note, Warning};
use leadline_protocol::format::{bytes, duration};
use leadline_protocol::job::value::{FileState, SyncMode};
use leadline_protocol::plan::resolved::{Mode, ResolvedJob, TargetKind};
use leadline_protocol::verdict::VerdictClass;
use serde_json::json;

/// Files that jobs write to.
fn written<'a>(case: &'a Case) -> impl Iterator<Item = &'a TargetReport> {
    let writers: Vec<&str> = case
        .jobs
        .iter()
        .filter(|job| job.pattern.rw.writes())
        .map(|job| job.name.as_str())
        .collect();
    let is_file =
        |target: &&TargetReport| target.kind == TargetKind::File && target.device.is_some();
    let is_written = move |target: &&TargetReport| {
        target
            .jobs
            .iter()
            .any(|job| writers.contains(&job.as_str()))
    };
    case.report
        .targets
        .iter()
        .filter(is_file)
        .filter(is_written)
}

fn is_synced(job: &ResolvedJob) -> bool {
    job.target.sync != SyncMode::None || job.pattern.fsync > 0 || job.pattern.fdatasync > 0
}

/// The same line is another test the second time.
pub(crate) fn initial(case: &Case) -> Option<Finding> {
    let (target, share) = written(case).find_map(|target| {
        Some((
            target,
            target
                .state
                .written_share
                .filter(|_| target.state.is_written() == Some(false))?,
        ))
    })?;
    if case.jobs.iter().any(|job| job.target.file_append) {
        let sentence = format!(
            "{} grew: each write had to find a block first.",
            target.path
        );
        return Some(Finding::new(
            Note,
            "append",
            sentence,
            &[("written_share", json!(share))],
            "To overwrite what is there, leave file_append out.",
        ));
    }
    let sentence = format!(
        "An initial write: {:.0} % of {} held no data before, so that blocks were allocated on the way. The same job run again overwrites, and is another test.",
        (1.0 - share) * 100.0,
        target.path
    );
    let remedy = "Say file_state=overwrite to measure writing in place, or file_state=fresh to measure this each time.";
    let finding = Finding::new(
        Warning,
        "initial_write",
        sentence,
        &[("written_share", json!(share))],
        remedy,
    );
    // A patch is for all jobs of a run, and a job that only reads overwrites nothing.
    let all_write = case.jobs.iter().all(|job| job.pattern.rw.writes());
    Some(if all_write {
        finding.with_rerun(rerun::overwrite())
    } else {
        finding
    })
}

/// The other half of the same story, for whoever meant the first write.
pub(crate) fn overwritten(case: &Case) -> Option<Finding> {
    let unsaid = case
        .jobs
        .iter()
        .filter(|job| job.pattern.rw.writes())
        .all(|job| job.target.file_state == FileState::AsIs && !job.target.overwrite);
    let target = written(case)
        .find(|target| target.state.existed && target.state.is_written() == Some(true));
    let target =
        target.filter(|_| unsaid && !case.jobs.iter().any(|job| job.target.file_append))?;
    let sentence = format!(
        "{} was there and full: this overwrote it. The first run on a new file is another test.",
        target.path
    );
    let remedy =
        "Say file_state=overwrite to make sure of it, or file_state=fresh to measure first writes.";
    Some(Finding::new(Note, "overwrite", sentence, &[], remedy))
}

/// Writes that are in the number and not on the device.
pub(crate) fn not_flushed(case: &Case) -> Option<Finding> {
    let deferred = case
        .judged
        .iter()
        .any(|judged| judged.class == VerdictClass::DeferredWrite);
    let unsynced = case.jobs.iter().any(|job| {
        job.pattern.rw.writes() && !job.direct && !job.target.end_fsync && !is_synced(job)
    });
    let left = case
        .report
        .flush
        .and_then(|flush| flush.dirty_bytes)
        .filter(|left| *left > 0 && unsynced && !deferred)?;
    let sentence = format!(
        "{} had yet to be written when the measurement ended, and no flush followed.",
        bytes(left)
    );
    let finding = Finding::new(
        Note,
        "not_flushed",
        sentence,
        &[("dirty_bytes", json!(left))],
        "Say end_fsync=1: the flush is a phase with a time of its own.",
    );
    Some(finding.with_rerun(("Rerun with end_fsync", json!({"end_fsync": 1}))))
}

/// The kernel makes writers wait from halfway between its two limits on (balance_dirty_pages, dirty_freerun_ceiling); earlier where
/// the device has a limit of its own (/sys/class/bdi).
pub(crate) fn throttled(case: &Case) -> Option<Finding> {
    let buffered = case
        .jobs
        .iter()
        .any(|job| job.pattern.rw.writes() && !job.direct && job.mode != Mode::Null);
    let (memory, background, limit) = (
        case.report.memory?,
        case.host.dirty_background_bytes?,
        case.host.dirty_bytes?,
    );
    let ceiling = background.midpoint(limit);
    let most =
        (memory.start.dirty + memory.start.writeback).max(memory.end.dirty + memory.end.writeback);
    let waited_ms = case
        .report
        .writeback
        .and_then(|writeback| writeback.throttled_ms)
        .unwrap_or(0.0);
    if !buffered || (most < ceiling && waited_ms == 0.0) {
        return None;
    }
    let sentence = if waited_ms > 0.0 {
        let waited = duration(waited_ms);
        format!(
            "The kernel made the writers wait {waited} in all for writeback to catch up: the number is that of writeback."
        )
    } else {
        let (most, limit, ceiling) = (bytes(most), bytes(limit), bytes(ceiling));
        format!(
            "Dirty memory stood at {most} of {limit}: past {ceiling} the kernel makes writers wait, so that the number is that of writeback."
        )
    };
    let numbers = [
        ("dirty_bytes", json!(most)),
        ("ceiling_bytes", json!(ceiling)),
        ("throttled_ms", json!(waited_ms)),
    ];
    Some(Finding::new(
        Note,
        "writeback_throttled",
        sentence,
        &numbers,
        "This is what a long buffered write comes to; direct=1 shows the device without it.",
    ))
}

/// As long as the background limit is not reached, nothing but age makes the kernel write.
pub(crate) fn below_limit(case: &Case) -> Option<Finding> {
    let deferred = case
        .judged
        .iter()
        .any(|judged| judged.class == VerdictClass::DeferredWrite && !judged.evidence.direct);
    let (memory, background) = (case.report.memory?, case.host.dirty_background_bytes?);
    let most = memory.start.dirty.max(memory.end.dirty);
    (deferred && most < background).then(|| {
        let sentence = format!(
            "Dirty memory never reached the {} at which the kernel begins to write: at most {} were waiting.",
            bytes(background),
            bytes(most)
        );
        let numbers = [("dirty_bytes", json!(most)), ("background_bytes", json!(background))];
        Finding::new(
            Warning,
            "dirty_limit_not_reached",
            sentence,
            &numbers,
            "Write several times that much, or run longer, to see what the device can sustain.",
        )
    })
}

/// Without a flush a device may keep direct writes in a cache of its own. The disks tell: the kernel counts no flushes of
/// partitions, nor of dm and md.
pub(crate) fn device_cache(case: &Case) -> Option<Finding> {
    let unsynced = case
        .jobs
        .iter()
        .filter(|job| job.pattern.rw.writes())
        .all(|job| !is_synced(job) && !job.target.end_fsync);
    let on_device = case.judged.iter().any(|judged| {
        judged.evidence.direction == Direction::Write
            && judged.evidence.direct
            && judged.class == VerdictClass::Device
    });
    let device = case
        .report
        .device
        .as_ref()
        .filter(|_| unsynced && on_device)?;
    let disks: Vec<&str> = device
        .physical_devices
        .iter()
        .map(|leaf| leaf.name.as_str())
        .collect();
    let counts = device
        .physical_devices
        .iter()
        .map(|leaf| leaf.counts)
        .chain([device.counts]);
    if disks.is_empty() || counts.map(|counts| counts.flush_ios).sum::<u64>() > 0 {
        return None;
    }
    let sentence = format!(
        "{} was never asked to flush: what it took may still be in a cache of its own.",
        disks.join("+")
    );
    let remedy = "Say fdatasync=1 to measure writes that survive a power cut, or run until the cache is full.";
    Some(Finding::new(
        Note,
        "device_cache",
        sentence,
        &[("flush_ios", json!(0))],
        remedy,
    ))
}
