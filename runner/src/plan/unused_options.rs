//! Options without effect on the job. They are reported but not rejected, because job files share options
//! among jobs.

use crate::plan::diagnostics::Diagnostics;
use leadline_protocol::finding::Severity;
use leadline_protocol::job::Job;
use leadline_protocol::job::engine::EngineName;
use leadline_protocol::job::keyword::{CacheState, FileState, SyncMode};
use leadline_protocol::job::value::Flag;
use leadline_protocol::plan::job::{Mode, ResolvedJob};
use leadline_protocol::plan::target::TargetKind;

pub(crate) fn check(job: &Job, resolved: &ResolvedJob, diagnostics: &mut Diagnostics) {
    let groups = [
        random_options(job, resolved),
        write_options(job, resolved),
        file_options(job, resolved),
        target_options(job, resolved),
        timing_options(job, resolved),
        ring_options(job, resolved),
    ];
    for unused in groups.concat() {
        let UnusedOption { option, reason } = unused;
        let sentence = format!("{option} has no effect: {reason}.");
        let remedy = format!("Remove {option}.");
        diagnostics.finding(Severity::Note, "option_unused", sentence, &[], &remedy);
    }
}

#[derive(Clone)]
struct UnusedOption {
    option: &'static str,
    reason: &'static str,
}

/// Returns the given options of a group that is not used. `options`: name and whether the job sets it.
fn unused(
    is_used: bool,
    reason: &'static str,
    options: &[(&'static str, bool)],
) -> Vec<UnusedOption> {
    let mut unused = Vec::new();
    for (option, is_given) in options {
        if *is_given && !is_used {
            unused.push(UnusedOption { option, reason });
        }
    }
    unused
}

fn is_on(flag: Option<Flag>) -> bool {
    flag.is_some_and(|flag| flag.0)
}

fn random_options(job: &Job, resolved: &ResolvedJob) -> Vec<UnusedOption> {
    let options = [
        ("blockalign", job.blockalign.is_some()),
        ("random_distribution", job.random_distribution.is_some()),
        ("percentage_random", job.percentage_random.is_some()),
        ("norandommap", is_on(job.norandommap)),
    ];
    unused(
        resolved.pattern.rw.is_random(),
        "offsets are sequential",
        &options,
    )
}

fn write_options(job: &Job, resolved: &ResolvedJob) -> Vec<UnusedOption> {
    let data = &resolved.data;
    let is_mixed = resolved.pattern.rwmixread.is_some();
    let mix_options = [
        ("rwmixread", job.rwmixread.is_some()),
        ("rwmixwrite", job.rwmixwrite.is_some()),
    ];
    let options = [
        ("fsync", resolved.pattern.fsync > 0),
        ("fdatasync", resolved.pattern.fdatasync > 0),
        ("end_fsync", resolved.target.end_fsync),
        ("sync", resolved.target.sync != SyncMode::None),
        ("zero_buffers", is_on(job.zero_buffers)),
        ("refill_buffers", is_on(job.refill_buffers)),
        (
            "buffer_compress_percentage",
            data.buffer_compress_percentage > 0,
        ),
        ("dedupe_percentage", data.dedupe_percentage > 0),
    ];
    let refill = [("refill_buffers", is_on(job.refill_buffers))];
    let writes = resolved.pattern.rw.writes();
    [
        unused(
            is_mixed,
            "the job does not mix reads and writes",
            &mix_options,
        ),
        unused(writes, "the job does not write", &options),
        unused(!writes || !data.zero_buffers, "all data is zeros", &refill),
    ]
    .concat()
}

fn file_options(job: &Job, resolved: &ResolvedJob) -> Vec<UnusedOption> {
    const NO_FILE: &str = "the target is not a file";
    let target = &resolved.target;
    let is_file = resolved
        .targets
        .iter()
        .all(|target| matches!(target.kind, TargetKind::File | TargetKind::Loop));
    let options = [
        ("fallocate", job.fallocate.is_some()),
        ("overwrite", target.overwrite),
        ("file_append", target.file_append),
        ("create_on_open", target.create_on_open),
        ("file_state", target.file_state != FileState::AsIs),
        ("unlink", target.unlink),
    ];
    let has_filesize = is_file || resolved.mode == Mode::Null;
    let filesize = [("filesize", job.filesize.is_some())];
    [
        unused(has_filesize, NO_FILE, &filesize),
        unused(is_file, NO_FILE, &options),
    ]
    .concat()
}

fn target_options(job: &Job, resolved: &ResolvedJob) -> Vec<UnusedOption> {
    let options = [
        (
            "cache_state",
            resolved.target.cache_state != CacheState::AsIs,
        ),
        ("loop_device", is_on(job.loop_device)),
        ("filename", job.filename.is_some()),
        ("directory", job.directory.is_some()),
        ("pre_read", is_on(job.pre_read)),
        ("direct", is_on(job.direct)),
        ("drop_caches", resolved.target.drop_caches),
    ];
    let has_target = resolved.mode != Mode::Null;
    unused(
        has_target,
        "ioengine=null does not access targets",
        &options,
    )
}

fn timing_options(job: &Job, resolved: &ResolvedJob) -> Vec<UnusedOption> {
    let pauses = resolved.timing.thinktime_us > 0;
    let rate_process = [("rate_process", job.rate_process.is_some())];
    let thinktime_blocks = [("thinktime_blocks", job.thinktime_blocks.is_some())];
    [
        unused(resolved.has_rate(), "no rate is set", &rate_process),
        unused(pauses, "no thinktime is set", &thinktime_blocks),
    ]
    .concat()
}

fn ring_options(job: &Job, resolved: &ResolvedJob) -> Vec<UnusedOption> {
    const NO_RING: &str = "only io_uring supports it";
    let ring = &resolved.ring;
    let fallback = [("ioengine_fallback", job.ioengine_fallback.is_some())];
    let options = [
        ("iodepth_batch_submit", job.iodepth_batch_submit.is_some()),
        (
            "iodepth_batch_complete_min",
            job.iodepth_batch_complete_min.is_some(),
        ),
        ("fixedbufs", is_on(job.fixedbufs)),
        ("hipri", ring.hipri),
        ("sqthread_poll", ring.sqthread_poll),
        ("spin", ring.spin_us > 0),
    ];
    [
        unused(
            job.ioengine.is_none_or(EngineName::has_ring),
            NO_RING,
            &fallback,
        ),
        unused(ring.ioengine.has_ring(), NO_RING, &options),
    ]
    .concat()
}
