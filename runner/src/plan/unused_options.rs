//! Reports options that have no effect on a job. They are not rejected, because jobs in a job file
//! often share options.

use crate::plan::issues::Issues;
use leadline_protocol::{
    finding::Severity,
    job::{
        Job,
        distribution::Distribution,
        engine::EngineName,
        keyword::{CacheState, FileState, SyncMode},
        size::Extent,
    },
    plan::{
        job::{Mode, ResolvedJob},
        target::TargetKind,
    },
};

pub(crate) fn check(job: &Job, resolved: &ResolvedJob, issues: &mut Issues) {
    check_pattern(job, resolved, issues);
    check_target(job, resolved, issues);
    check_timing(job, resolved, issues);
    check_ring(job, resolved, issues);
}

/// Adds a finding for each option that the job sets but does not use. `options`: name, and whether
/// the job sets it.
fn add_findings(is_used: bool, reason: &str, options: &[(&str, bool)], issues: &mut Issues) {
    for (option, is_given) in options {
        if *is_given && !is_used {
            let sentence = format!("{option} has no effect: {reason}.");
            let remedy = format!("Remove {option}.");
            issues.finding(Severity::Note, "option_unused", sentence, None, &remedy);
        }
    }
}

fn check_pattern(job: &Job, resolved: &ResolvedJob, issues: &mut Issues) {
    let ResolvedJob {
        pattern,
        target,
        data,
        ..
    } = resolved;
    let writes = pattern.rw.writes();
    let refill_buffers = ("refill_buffers", job.refill_buffers());
    add_findings(
        pattern.rw.is_random(),
        "offsets are sequential",
        &[
            ("blockalign", job.blockalign.is_some()),
            ("random_distribution", job.random_distribution.is_some()),
            ("percentage_random", job.percentage_random.is_some()),
            ("norandommap", job.norandommap()),
        ],
        issues,
    );
    add_findings(
        pattern.rw.is_random() && pattern.rw_modifier.is_some_and(|ios| ios > 1),
        "rw does not set a number of I/Os per random offset",
        &[("rw_sequencer", job.rw_sequencer.is_some())],
        issues,
    );
    let is_sequence =
        |distribution: &Distribution| matches!(distribution, Distribution::Sequence { .. });
    let distributions = &pattern.random_distribution;
    add_findings(
        pattern.rw.is_random()
            && [
                &distributions.read,
                &distributions.write,
                &distributions.trim,
            ]
            .into_iter()
            .any(is_sequence),
        "random_distribution is not a sequence",
        &[("random_sequence_stride", job.random_sequence_stride())],
        issues,
    );
    add_findings(
        data.buffer_pattern.is_none(),
        "buffer_pattern supplies all data",
        &[
            refill_buffers,
            ("zero_buffers", job.zero_buffers()),
            ("scramble_buffers", job.scramble_buffers.is_some()),
        ],
        issues,
    );
    add_findings(
        resolved.verify_backlog().is_some(),
        "the job does not verify, or also reads; blocks of mixed jobs are verified after the measurement",
        &[
            ("verify_backlog", job.verify_backlog() > 0),
            ("verify_backlog_batch", job.verify_backlog_batch() > 0),
        ],
        issues,
    );
    add_findings(
        !resolved.cpus_allowed.is_empty(),
        "cpus_allowed is not set",
        &[("cpus_allowed_policy", job.cpus_allowed_policy.is_some())],
        issues,
    );
    add_findings(
        data.dedupe_working_set.is_some(),
        "no duplicates come from a working set",
        &[
            ("dedupe_global", job.dedupe_global()),
            (
                "dedupe_working_set_percentage",
                job.dedupe_working_set_percentage.is_some(),
            ),
        ],
        issues,
    );
    add_findings(
        pattern.zones.is_some(),
        "zonemode is not strided",
        &[
            ("zoneskip", job.zoneskip().0 > 0),
            ("zonerange", job.zonerange.is_some()),
        ],
        issues,
    );
    add_findings(
        job.filename.is_none(),
        "filename sets the names",
        &[("filename_format", job.filename_format.is_some())],
        issues,
    );
    add_findings(
        resolved.targets_of(0).count() > 1,
        "each worker has only one file",
        &[("file_service_type", job.file_service_type.is_some())],
        issues,
    );
    let is_percent = |extent: &Option<Extent>| matches!(extent, Some(Extent::Percent(_)));
    add_findings(
        is_percent(&job.offset) || is_percent(&job.offset_increment),
        "no offset is a percentage",
        &[("offset_align", job.offset_align.is_some())],
        issues,
    );
    add_findings(
        pattern.rwmixread.is_some(),
        "the job does not mix reads and writes",
        &[
            ("rwmixread", job.rwmixread.is_some()),
            ("rwmixwrite", job.rwmixwrite.is_some()),
        ],
        issues,
    );
    add_findings(
        writes,
        "the job does not write",
        &[
            ("fsync", pattern.fsync > 0),
            ("fdatasync", pattern.fdatasync > 0),
            ("end_fsync", job.end_fsync()),
            ("fsync_on_close", job.fsync_on_close()),
            ("buffer_pattern", data.buffer_pattern.is_some()),
            ("sync", target.sync != SyncMode::None),
            ("zero_buffers", job.zero_buffers()),
            ("scramble_buffers", job.scramble_buffers.is_some()),
            (
                "buffer_compress_percentage",
                data.buffer_compress_percentage > 0,
            ),
            ("dedupe_percentage", data.dedupe_percentage > 0),
            refill_buffers,
        ],
        issues,
    );
    add_findings(
        !writes || !data.zero_buffers,
        "all data is zeros",
        &[
            refill_buffers,
            (
                "buffer_compress_percentage",
                data.buffer_compress_percentage > 0,
            ),
            ("dedupe_percentage", data.dedupe_percentage > 0),
        ],
        issues,
    );
}

fn check_target(job: &Job, resolved: &ResolvedJob, issues: &mut Issues) {
    const NO_FILE: &str = "the target is not a file";
    let target = &resolved.target;
    let is_null = resolved.mode == Mode::Null;
    let is_file = resolved
        .targets
        .iter()
        .all(|target| matches!(target.kind, TargetKind::File | TargetKind::Loop));
    let filesize = [("filesize", job.filesize.is_some())];
    add_findings(is_file || is_null, NO_FILE, &filesize, issues);
    add_findings(
        is_file,
        NO_FILE,
        &[
            ("fallocate", job.fallocate.is_some()),
            ("overwrite", target.overwrite),
            ("file_append", target.file_append),
            ("create_on_open", target.create_on_open),
            ("file_state", target.file_state != FileState::AsIs),
            ("unlink", target.unlink),
        ],
        issues,
    );
    add_findings(
        !is_null,
        "ioengine=null does not access targets",
        &[
            ("cache_state", target.cache_state != CacheState::AsIs),
            ("loop_device", job.loop_device()),
            ("filename", job.filename.is_some()),
            ("directory", job.directory.is_some()),
            ("pre_read", job.pre_read()),
            ("direct", job.direct == Some(true)),
            ("drop_caches", target.drop_caches),
        ],
        issues,
    );
}

fn check_timing(job: &Job, resolved: &ResolvedJob, issues: &mut Issues) {
    let rate_process = [("rate_process", job.rate_process.is_some())];
    let thinktime_blocks = [
        ("thinktime_blocks", job.thinktime_blocks.is_some()),
        ("thinktime_iotime", job.thinktime_iotime().0 > 0),
        ("thinktime_spin", job.thinktime_spin().0 > 0),
    ];
    let pauses = resolved.timing.thinktime_us > 0;
    add_findings(resolved.has_rate(), "no rate is set", &rate_process, issues);
    add_findings(pauses, "no thinktime is set", &thinktime_blocks, issues);
    add_findings(
        resolved.timing.min_rate.is_some(),
        "no minimum rate is set",
        &[("rate_cycle", job.rate_cycle.is_some())],
        issues,
    );
    add_findings(
        resolved.timing.latency_target.is_some(),
        "latency_target is not set",
        &[
            ("latency_window", job.latency_window().0 > 0),
            ("latency_percentile", job.latency_percentile.is_some()),
            ("latency_run", job.latency_run()),
        ],
        issues,
    );
    add_findings(
        job.exitall(),
        "exitall is not set",
        &[("exit_what", job.exit_what.is_some())],
        issues,
    );
    add_findings(
        resolved.timing.flow.is_some(),
        "flow is not set",
        &[
            ("flow_id", job.flow_id() > 0),
            ("flow_sleep", job.flow_sleep() > 0),
        ],
        issues,
    );
    add_findings(
        resolved.command_priorities.is_some(),
        "no I/O has a separate priority",
        &[
            ("cmdprio_class", job.cmdprio_class.is_some()),
            ("cmdprio", job.cmdprio.is_some()),
            ("cmdprio_hint", job.cmdprio_hint.is_some()),
        ],
        issues,
    );
    add_findings(
        job.steadystate_duration().0 > 0,
        "steadystate_duration is not set",
        &[
            ("steadystate", job.steadystate.is_some()),
            ("steadystate_ramp_time", job.steadystate_ramp_time().0 > 0),
            (
                "steadystate_check_interval",
                job.steadystate_check_interval.is_some(),
            ),
        ],
        issues,
    );
    add_findings(
        resolved.is_measured(),
        "the job measures nothing",
        &[("steadystate_duration", job.steadystate_duration().0 > 0)],
        issues,
    );
}

fn check_ring(job: &Job, resolved: &ResolvedJob, issues: &mut Issues) {
    const NO_RING: &str = "only io_uring supports it";
    const SYNCHRONOUS: &str = "the engine runs one I/O at a time";
    let ring = &resolved.ring;
    let fallback = [("ioengine_fallback", job.ioengine_fallback.is_some())];
    let min_batch = job.iodepth_batch_complete_min;
    add_findings(job.ioengine().has_ring(), NO_RING, &fallback, issues);
    add_findings(
        ring.ioengine.is_asynchronous(),
        SYNCHRONOUS,
        &[
            ("iodepth_batch_submit", job.iodepth_batch_submit.is_some()),
            ("iodepth_batch_complete_min", min_batch.is_some()),
        ],
        issues,
    );
    add_findings(
        ring.ioengine.has_ring() || ring.ioengine == EngineName::Pvsync2,
        "only io_uring and pvsync2 support it",
        &[("hipri", ring.hipri)],
        issues,
    );
    add_findings(
        ring.ioengine != EngineName::Mmap,
        "writes to a memory mapping are not synchronous",
        &[("sync", resolved.target.sync != SyncMode::None)],
        issues,
    );
    add_findings(
        ring.ioengine.has_ring(),
        NO_RING,
        &[
            ("fixedbufs", job.fixedbufs == Some(true)),
            ("sqthread_poll", ring.sqthread_poll),
            ("spin", ring.spin_us > 0),
        ],
        issues,
    );
}
