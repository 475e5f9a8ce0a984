//! What to mind about a job before it starts: everything by which its number could be taken for something else. What
//! can only be seen afterwards is `verdict`'s.

use crate::plan::host_view::HostView;
use crate::plan::notes::Notes;
use crate::plan::phases::{late_ramps, measured_from_ms, window_begin_ms};
use leadline_protocol::finding::Severity::{Note, Serious, Warning};
use leadline_protocol::format::{bytes, duration};
use leadline_protocol::job::value::CacheState;
use leadline_protocol::plan::resolved::{Mode, ResolvedJob, TargetKind};
use serde_json::json;

/// Below this a run is mostly its own beginning: caches and boost clocks are still warming up, and a flash device has
/// not yet begun to clean up behind the writes.
pub(crate) const SHORT_RUN_MS: u64 = 10_000;

/// Minds what is worth it about this job.
pub(crate) fn gather(job: &ResolvedJob, host: &dyn HostView, notes: &mut Notes) {
    mind_time(job, notes);
    mind_depth(job, notes);
    mind_caches(job, host, notes);
    mind_target(job, notes);
    mind_device(job, host, notes);
    mind_workload(job, notes);
}

/// Minds ramps of the run that are not over together: the window's counters then hold I/O that is not measured.
pub(crate) fn mind_ramps(jobs: &[ResolvedJob], notes: &mut Notes) {
    let Some(late) = late_ramps(jobs).max_by_key(|job| measured_from_ms(job)) else {
        return;
    };
    let number = jobs
        .iter()
        .position(|job| job.name == late.name)
        .unwrap_or(0);
    let begin_ms = window_begin_ms(jobs);
    notes.begin(number, &late.name);
    let sentence = format!(
        "The ramp of {} ends {} after the run's measurement began: what it does until then is in the device's counters and not in the job's own, so that no verdict can be given.",
        late.name,
        duration((measured_from_ms(late) - begin_ms) as f64)
    );
    let evidence = [
        ("window_begin_ms", json!(begin_ms)),
        ("ramp_end_ms", json!(measured_from_ms(late))),
    ];
    notes.mind(
        Warning,
        "ramp_in_window",
        sentence,
        &evidence,
        "Let startdelay + ramp_time be the same in all jobs.",
    );
}

fn mind_time(job: &ResolvedJob, notes: &mut Notes) {
    if let Some(runtime_ms) = job.timing.runtime_ms.filter(|ms| *ms < SHORT_RUN_MS) {
        let sentence = format!(
            "{} is short: good for a look, not for a number.",
            duration(runtime_ms as f64)
        );
        notes.mind(
            Note,
            "short_run",
            sentence,
            &[("runtime_ms", json!(runtime_ms))],
            "Run for at least 10 s, with time_based=1.",
        );
    }
}

fn mind_depth(job: &ResolvedJob, notes: &mut Notes) {
    let evidence = [("iodepth", json!(job.ring.iodepth))];
    if job.ring.iodepth > 1 && job.in_flight() == 1 {
        let (who, remedy) = if job.pattern.rw.trims() {
            (
                "Trims are system calls of their own, and a clone does one",
                "Use numjobs for trims side by side.",
            )
        } else {
            (
                "psync does one I/O",
                "Use ioengine=io_uring, or numjobs for I/Os side by side.",
            )
        };
        let sentence = format!("{who} at a time: the depth is 1, not {}.", job.ring.iodepth);
        notes.mind(Warning, "depth_is_one", sentence, &evidence, remedy);
    } else if job.ring.iodepth > 1 && is_buffered(job) {
        let sentence = format!(
            "Through the page cache a depth of {} is hardly reached: what memory can answer or take is done at once.",
            job.ring.iodepth
        );
        notes.mind(
            Note,
            "buffered_depth",
            sentence,
            &evidence,
            "Use direct=1 to keep the device busy at a depth.",
        );
    }
}

fn mind_caches(job: &ResolvedJob, host: &dyn HostView, notes: &mut Notes) {
    if job.target.drop_caches {
        let sentence =
            "The caches of the whole host are dropped first, which slows everybody on it.";
        notes.mind(
            Warning,
            "drop_caches_global",
            sentence,
            &[],
            "Leave drop_caches out: invalidate=1 drops only the target's own pages.",
        );
    }
    if !is_buffered(job) {
        return;
    }
    let (region, memory) = (region_bytes(job), host.available_memory());
    if region < memory {
        let sentence = format!(
            "The region of {} fits into the {} of memory that are available.",
            bytes(region),
            bytes(memory)
        );
        let evidence = [
            ("region_bytes", json!(region)),
            ("available_memory_bytes", json!(memory)),
        ];
        let remedy =
            "For the device's speed use direct=1, or a region of at least twice the memory.";
        notes.mind(
            if job.pattern.rw.reads() {
                Warning
            } else {
                Note
            },
            "fits_into_memory",
            sentence,
            &evidence,
            remedy,
        );
    }
    if job.target.invalidate
        && job.pattern.rw.reads()
        && (job.timing.time_based || job.timing.loops > 1)
    {
        let sentence = "The target's pages are dropped once, before the job begins; from the second pass on, memory may answer.";
        notes.mind(
            Note,
            "invalidated_once",
            sentence,
            &[],
            "Use a region that one pass does not finish, or direct=1.",
        );
    }
    if job.target.invalidate && job.pattern.rw.reads() && job.target.cache_state != CacheState::Cold
    {
        let sentence =
            "invalidate drops only clean pages: what waits to be written stays in memory.";
        notes.mind(
            Note,
            "invalidate_keeps_dirty",
            sentence,
            &[],
            "Run sync before, or use drop_caches=1 as root.",
        );
    }
}

fn mind_target(job: &ResolvedJob, notes: &mut Notes) {
    if let Some(target) = job
        .targets
        .iter()
        .find(|target| target.device.is_none() && target.kind != TargetKind::Null)
    {
        let filesystem = target.filesystem.as_deref().unwrap_or("its filesystem");
        let sentence = format!(
            "There is no block device that could be told under {} ({filesystem}): no device's counters stand beside the number.",
            target.path
        );
        notes.mind(
            Serious,
            "no_device",
            sentence,
            &[],
            "Name a file on a disk's filesystem to measure the disk.",
        );
    }
    if job.target.file_append && job.mode != Mode::Null {
        notes.mind(
            Note,
            "file_grows",
            "Every run of this job makes the file longer.",
            &[],
            "Remove the file now and then, or say unlink=1.",
        );
    }
}

/// What is known of the devices under a job before it starts.
fn mind_device(job: &ResolvedJob, host: &dyn HostView, notes: &mut Notes) {
    for device in job
        .targets
        .iter()
        .filter_map(|target| target.device.as_deref())
    {
        if let Some(results) = host.results_on(device) {
            let sentence = format!(
                "Results are kept in {results}, on the same disk as {device}: writing them takes part in the load."
            );
            notes.mind(
                Note,
                "results_on_device",
                sentence,
                &[],
                "Keep them on another disk with --data-dir.",
            );
        }
        if let Some(off) = host.misaligned_by(device) {
            let sentence = format!(
                "{device} begins {} past a physical block of its disk: an aligned I/O touches one block too many.",
                bytes(off)
            );
            let remedy = "Make the partition begin at a multiple of 1 MiB.";
            notes.mind(
                Warning,
                "partition_misaligned",
                sentence,
                &[("off_bytes", json!(off))],
                remedy,
            );
        }
    }
    if job.mode == Mode::Raw && !job.direct {
        let sentence = "A block device has a page cache of its own: the kernel counts it as Buffers, not as Cached.";
        notes.mind(
            Warning,
            "raw_buffered",
            sentence,
            &[],
            "Write direct=1: raw I/O past the page cache is the device's own.",
        );
    }
}

fn mind_workload(job: &ResolvedJob, notes: &mut Notes) {
    let shared = job.numjobs > 1 && job.targets.iter().any(|target| target.worker.is_none());
    if shared && !job.pattern.rw.is_random() && job.mode != Mode::Null {
        let sentence = format!(
            "All {} clones go through the same blocks in the same order: a cache can answer all but the first.",
            job.numjobs
        );
        notes.mind(
            Warning,
            "clones_follow",
            sentence,
            &[("numjobs", json!(job.numjobs))],
            "Give each a part of its own with offset_increment.",
        );
    }
    let limited = |read: bool, write: bool| read && write;
    if job.pattern.rwmixread.is_some()
        && (limited(
            job.timing.rate.read.is_some(),
            job.timing.rate.write.is_some(),
        ) || limited(
            job.timing.rate_iops.read.is_some(),
            job.timing.rate_iops.write.is_some(),
        ))
    {
        let sentence =
            "Reads and writes keep their mix, so that the slower of the two rates holds back both.";
        notes.mind(
            Note,
            "rates_keep_the_mix",
            sentence,
            &[],
            "Put reads and writes into jobs of their own to let each reach its rate.",
        );
    }
    if job.pattern.rw.writes() && job.data.zero_buffers {
        let sentence =
            "Only zeros are written: devices and filesystems that compress store next to nothing.";
        notes.mind(
            Warning,
            "zeros_written",
            sentence,
            &[],
            "Leave zero_buffers out for data that does not compress.",
        );
    }
}

/// Whether the page cache takes part.
fn is_buffered(job: &ResolvedJob) -> bool {
    !job.direct && job.mode != Mode::Null
}

/// Bytes that all clones work on together.
fn region_bytes(job: &ResolvedJob) -> u64 {
    job.targets.iter().map(|target| target.size).sum()
}
