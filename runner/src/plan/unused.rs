//! Options that were said and do nothing in this job. They are not refused, since job files share options among jobs,
//! but never ignored silently.

use crate::plan::notes::Notes;
use leadline_protocol::finding::Severity;
use leadline_protocol::job::Job;
use leadline_protocol::job::value::{CacheState, EngineName, FileState};
use leadline_protocol::plan::resolved::{Mode, ResolvedJob, TargetKind};

/// Minds every option of the job that changes nothing.
pub(crate) fn check(job: &Job, resolved: &ResolvedJob, notes: &mut Notes) {
    for (option, why) in unused(job, resolved) {
        let sentence = format!("{option} changes nothing here: {why}.");
        notes.mind(
            Severity::Note,
            "option_unused",
            sentence,
            &[],
            &format!("Leave {option} out."),
        );
    }
}

/// Each option, whether it was said, whether it is used, and why not.
fn unused(job: &Job, resolved: &ResolvedJob) -> Vec<(&'static str, &'static str)> {
    let rw = resolved.pattern.rw;
    let (random, writes, mixed) = (
        rw.is_random(),
        rw.writes(),
        resolved.pattern.rwmixread.is_some(),
    );
    let files = resolved
        .targets
        .iter()
        .all(|target| matches!(target.kind, TargetKind::File | TargetKind::Loop));
    let null = resolved.mode == Mode::Null;
    let on = |flag: Option<leadline_protocol::job::value::Flag>| flag.is_some_and(|flag| flag.0);
    let ring = resolved.ring.ioengine.has_ring();
    let sequential = "offsets are counted up, not drawn";
    let no_writes = "the job does not write";
    let no_file = "the target is no file";
    let nothing = "ioengine=null touches nothing";
    [
        ("blockalign", job.blockalign.is_some(), random, sequential),
        (
            "random_distribution",
            job.random_distribution.is_some(),
            random,
            sequential,
        ),
        (
            "percentage_random",
            job.percentage_random.is_some(),
            random,
            sequential,
        ),
        ("norandommap", on(job.norandommap), random, sequential),
        (
            "rwmixread",
            job.rwmixread.is_some(),
            mixed,
            "the job goes in one direction",
        ),
        (
            "rwmixwrite",
            job.rwmixwrite.is_some(),
            mixed,
            "the job goes in one direction",
        ),
        ("fsync", resolved.pattern.fsync > 0, writes, no_writes),
        (
            "fdatasync",
            resolved.pattern.fdatasync > 0,
            writes,
            no_writes,
        ),
        ("end_fsync", resolved.target.end_fsync, writes, no_writes),
        (
            "sync",
            job.sync
                .is_some_and(|mode| mode != leadline_protocol::job::value::SyncMode::None),
            writes,
            no_writes,
        ),
        ("zero_buffers", on(job.zero_buffers), writes, no_writes),
        (
            "refill_buffers",
            on(job.refill_buffers),
            writes && !resolved.data.zero_buffers,
            if writes { "zeros are zeros" } else { no_writes },
        ),
        (
            "buffer_compress_percentage",
            resolved.data.buffer_compress_percentage > 0,
            writes,
            no_writes,
        ),
        (
            "dedupe_percentage",
            resolved.data.dedupe_percentage > 0,
            writes,
            no_writes,
        ),
        ("filesize", job.filesize.is_some(), files || null, no_file),
        ("fallocate", job.fallocate.is_some(), files, no_file),
        ("overwrite", resolved.target.overwrite, files, no_file),
        ("file_append", resolved.target.file_append, files, no_file),
        (
            "create_on_open",
            resolved.target.create_on_open,
            files,
            no_file,
        ),
        (
            "file_state",
            resolved.target.file_state != FileState::AsIs,
            files,
            no_file,
        ),
        (
            "cache_state",
            resolved.target.cache_state != CacheState::AsIs,
            !null,
            nothing,
        ),
        ("unlink", resolved.target.unlink, files, no_file),
        ("loop_device", on(job.loop_device), !null, nothing),
        ("filename", job.filename.is_some(), !null, nothing),
        ("directory", job.directory.is_some(), !null, nothing),
        ("pre_read", on(job.pre_read), !null, nothing),
        ("direct", on(job.direct), !null, nothing),
        ("drop_caches", resolved.target.drop_caches, !null, nothing),
        (
            "rate_process",
            job.rate_process.is_some(),
            resolved.has_rate(),
            "there is no rate",
        ),
        (
            "thinktime_blocks",
            job.thinktime_blocks.is_some(),
            resolved.timing.thinktime_us > 0,
            "there is no thinktime",
        ),
        (
            "ioengine_fallback",
            job.ioengine_fallback.is_some(),
            job.ioengine.is_none_or(EngineName::has_ring),
            "only io_uring has one",
        ),
        (
            "iodepth_batch_submit",
            job.iodepth_batch_submit.is_some(),
            ring,
            "only io_uring submits in batches",
        ),
        (
            "iodepth_batch_complete_min",
            job.iodepth_batch_complete_min.is_some(),
            ring,
            "only io_uring reaps in batches",
        ),
        (
            "fixedbufs",
            on(job.fixedbufs),
            ring,
            "only a ring has registered buffers",
        ),
        ("hipri", resolved.ring.hipri, ring, "only a ring is polled"),
        (
            "sqthread_poll",
            resolved.ring.sqthread_poll,
            ring,
            "only a ring has such a thread",
        ),
        (
            "spin",
            resolved.ring.spin_us > 0,
            ring,
            "only a ring is waited for",
        ),
    ]
    .into_iter()
    .filter(|(_, said, used, _)| *said && !*used)
    .map(|(option, _, _, why)| (option, why))
    .collect()
}
