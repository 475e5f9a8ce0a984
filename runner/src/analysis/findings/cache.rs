//! What lay in the page cache before the first I/O, and which page cache it was.

use crate::analysis::case::Case;
use crate::analysis::findings::rerun;
use crate::analysis::verdict::evidence::unwritten_back;
use crate::analysis::verdict::threshold::NOTHING;
use leadline_protocol::evidence::Direction;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::{Note, Serious, Warning};
use leadline_protocol::format::bytes;
use leadline_protocol::job::value::CacheState;
use leadline_protocol::plan::resolved::{Mode, ResolvedJob};
use serde_json::json;

/// Whether a job's pages were wanted in memory.
fn wants_warm(job: &ResolvedJob) -> bool {
    job.target.pre_read || job.target.cache_state == CacheState::Warm
}

/// The cache is looked at when the measured window begins. Whether jobs of this kind worked on their files before, in a ramp.
fn had_a_ramp(case: &Case, is_of: impl Fn(&ResolvedJob) -> bool) -> bool {
    case.jobs
        .iter()
        .any(|job| job.timing.ramp_ms > 0 && job.mode != Mode::Null && is_of(job))
}

/// Pages that lay in memory without having been asked for. After a ramp nobody can tell who had them read in.
pub(crate) fn warm(case: &Case) -> Option<Finding> {
    let read = case
        .judged
        .iter()
        .find(|judged| judged.evidence.direction == Direction::Read)?;
    let evidence = &read.evidence;
    let start = evidence.residency?.0.cached;
    let share = start as f64 / evidence.region.max(1) as f64;
    if evidence.direct
        || evidence.deviceless.is_some()
        || share < NOTHING.value
        || case.jobs.iter().any(wants_warm)
    {
        return None;
    }
    let (when, remedy, patch) = if had_a_ramp(case, |_| true) {
        (
            "when the measurement began, after the ramp",
            "Leave ramp_time out and say cache_state=cold to begin with an empty cache, or cache_state=warm where memory is what you measure.",
            json!({"cache_state": "cold", "ramp_time": 0}),
        )
    } else {
        (
            "before the first read",
            "Say cache_state=cold to begin with an empty cache, or cache_state=warm where memory is what you measure.",
            json!({"cache_state": "cold"}),
        )
    };
    let sentence = format!(
        "{:.0} % of the region was in the page cache {when}.",
        (share * 100.0).min(100.0)
    );
    let numbers = [
        ("cached_bytes", json!(start)),
        ("region_bytes", json!(evidence.region)),
    ];
    Some(
        Finding::new(Warning, "warm_cache", sentence, &numbers, remedy)
            .with_rerun(rerun::cold(patch)),
    )
}

/// invalidate drops clean pages only. What waits after a ramp with writes may be the ramp's own.
pub(crate) fn dirty_left(case: &Case) -> Option<Finding> {
    let asked: Vec<&ResolvedJob> = case
        .jobs
        .iter()
        .filter(|job| job.target.invalidate && !job.direct && job.pattern.rw.reads())
        .collect();
    let read = case
        .report
        .targets
        .iter()
        .filter(|target| asked.iter().any(|job| target.jobs.contains(&job.name)));
    let left: u64 = read
        .filter_map(|target| unwritten_back(&target.residency.start?))
        .sum();
    (left > 0 && !had_a_ramp(case, |job| job.pattern.rw.writes())).then(|| {
        let sentence = format!(
            "{} of the target had yet to be written, so that invalidate left it in memory.",
            bytes(left)
        );
        let remedy = "Say cache_state=cold, which writes it first.";
        let finding = Finding::new(
            Warning,
            "invalidate_keeps_dirty",
            sentence,
            &[("dirty_bytes", json!(left))],
            remedy,
        );
        finding.with_rerun(rerun::cold(json!({"cache_state": "cold"})))
    })
}

/// A block device has a page cache too, and /proc/meminfo calls it by another name.
pub(crate) fn buffers(case: &Case) -> Option<Finding> {
    let is_raw = case
        .jobs
        .iter()
        .any(|job| job.mode == Mode::Raw && !job.direct);
    is_raw.then(|| {
        let memory = case.report.memory;
        let grown = memory.map_or(0, |memory| memory.end.buffers.saturating_sub(memory.start.buffers));
        let sentence = format!(
            "The device was used through its own page cache: the kernel counts it as Buffers (grown by {}), not as Cached, and drops it when the last program closes the device.",
            bytes(grown)
        );
        let numbers = [("buffers_grown_bytes", json!(grown))];
        Finding::new(Warning, "raw_buffered", sentence, &numbers, "Write direct=1: raw I/O past the page cache is the device's own.")
            .with_rerun(("Rerun direct", json!({"direct": 1})))
    })
}

/// A loop device that reads its file through the page cache of the host.
pub(crate) fn loop_cached(case: &Case) -> Option<Finding> {
    let target = case
        .report
        .targets
        .iter()
        .find(|target| target.direct.loop_direct_io == Some(false))?;
    let name = target.device.as_deref().unwrap_or("The loop device");
    let sentence = format!(
        "{name} is a file that is read and written through the page cache of this host: direct=1 ends at it."
    );
    let direct = case.jobs.iter().any(|job| job.direct);
    let severity = if direct { Serious } else { Note };
    Some(Finding::new(
        severity,
        "loop_without_direct_io",
        sentence,
        &[],
        "Attach it with losetup --direct-io=on.",
    ))
}
