//! Checks option ranges, and rejects mutually exclusive options.

use crate::plan::{issues::Issues, job_request::JobRequest, target_paths::TargetPath, verify};
use leadline_protocol::{
    job::{
        Job,
        direction::PerDirection,
        engine::EngineName,
        keyword::SubmitMode,
        range::{
            IODEPTH, JSON_INTEGER, MAX_IODEPTH, NICE, POSITIVE, POSITIVE_U32, PRIO, PRIOCLASS,
            RATE_CYCLE, RUNTIME, SPIN, TIME,
        },
        size::{Bytes, Extent},
    },
    plan::target::TargetKind,
};

/// With SQPOLL, the submission queue has two entries per I/O, because the kernel thread releases
/// them late.
const MAX_SQPOLL_IODEPTH: u32 = MAX_IODEPTH / 2;

pub(crate) fn check(request: &JobRequest, issues: &mut Issues) {
    check_counts(request.job, issues);
    check_times(request.job, issues);
    check_rates(request.job, issues);
    check_polling(request, issues);
    check_mapping(request, issues);
    check_buffer_pattern(request.job, issues);
    check_trimwrite(request, issues);
    check_open_files(request.job, issues);
    check_submit_mode(request, issues);
    check_latency_target(request.job, issues);
}

/// With `fill_device`, fio ignores a `size` in percent and the length of an existing file, and
/// writes until the filesystem is full. Only `filesize`, or a `size` in bytes, limits it.
pub(crate) fn check_fill(request: &JobRequest, paths: &[TargetPath], issues: &mut Issues) {
    let job = request.job;
    let is_limited = matches!(job.size, Some(Extent::Bytes(_))) || request.filesize().is_some();
    let fills = job.fill_device == Some(true) && request.rw.kind.writes() && !is_limited;
    let mut files = paths
        .iter()
        .filter(|path| matches!(path.kind, TargetKind::File | TargetKind::Loop));
    if let Some(file) = files.next().filter(|_| fills) {
        issues.invalid(
            "fills_filesystem",
            "fill_device",
            format!(
                "fill_device would fill the filesystem of {}, but part of it must stay free for other programs.",
                file.facts.canonical
            ),
            "Set size in bytes, or use a device.",
        );
    }
}

fn check_latency_target(job: &Job, issues: &mut Issues) {
    if job.latency_target().0 > 0 && job.latency_window().0 == 0 {
        issues.invalid(
            "missing_window",
            "latency_window",
            "latency_target requires latency_window.",
            "Set the time for which each queue depth is tested, such as latency_window=5s.",
        );
    }
}

/// With `offload`, a synchronous fio engine uses `iodepth` threads (rate-submit.c,
/// `rate_submit_init`).
fn check_submit_mode(request: &JobRequest, issues: &mut Issues) {
    let job = request.job;
    let offloads = job.io_submit_mode == Some(SubmitMode::Offload);
    if offloads && request.engine.is_synchronous() && job.iodepth() > 1 {
        let engine = request.engine.as_str();
        issues.invalid(
            "conflicting_options",
            "io_submit_mode",
            format!(
                "io_submit_mode=offload with ioengine={engine} would run {} I/Os in {0} threads, which is not supported.",
                job.iodepth()
            ),
            "Use ioengine=io_uring, which keeps iodepth I/Os in flight without additional threads.",
        );
    }
}

/// If `openfiles` is below the number of files, fio finishes the open files before it opens the
/// others (io_u.c, `get_next_file_rr`).
fn check_open_files(job: &Job, issues: &mut Issues) {
    let named = job.filename.as_ref().map(|files| files.0.len() as u64);
    let files = named.unwrap_or(job.nrfiles().into());
    let open_files = job.openfiles.unwrap_or(0);
    if open_files > 0 && u64::from(open_files) < files {
        issues.invalid(
            "too_few_open_files",
            "openfiles",
            format!(
                "openfiles={open_files} is below the number of files ({files}): fio finishes the open files before it opens others, which is not supported."
            ),
            "Remove openfiles to access all files in turn, or use one job per group of files.",
        );
    }
}

fn check_trimwrite(request: &JobRequest, issues: &mut Issues) {
    let job = request.job;
    if !request.rw.kind.is_trimwrite() {
        return;
    }
    if !request.direct && !request.is_null() {
        issues.invalid(
            "conflicting_options",
            "direct",
            "rw=trimwrite requires direct=1: the kernel rejects trims of pages that are being written back (EBUSY).",
            "Set direct=1.",
        );
    }
    let bs = job.bs();
    let range = job.bsrange.as_ref();
    let split = job.bssplit.as_ref();
    let align = job.blockalign.as_ref();
    for (option, differs) in [
        ("bs", bs.write != bs.trim),
        ("bsrange", range.is_some_and(|bs| bs.write != bs.trim)),
        ("bssplit", split.is_some_and(|bs| bs.write != bs.trim)),
        ("blockalign", align.is_some_and(|ba| ba.write != ba.trim)),
    ] {
        if differs {
            issues.invalid(
                "conflicting_options",
                option,
                format!(
                    "{option} must be the same for writes and trims: each trimmed block is written."
                ),
                "Use the same value for both.",
            );
        }
    }
}

fn check_buffer_pattern(job: &Job, issues: &mut Issues) {
    if job.buffer_pattern.is_none() {
        return;
    }
    for (option, is_given) in [
        (
            "buffer_compress_percentage",
            job.buffer_compress_percentage().0 > 0,
        ),
        ("dedupe_percentage", job.dedupe_percentage().0 > 0),
        ("verify", verify::is_enabled(job)),
    ] {
        if is_given {
            issues.invalid(
                "conflicting_options",
                option,
                format!(
                    "{option} cannot be combined with buffer_pattern, which supplies all data."
                ),
                format!("Remove {option} or buffer_pattern."),
            );
        }
    }
}

fn check_mapping(request: &JobRequest, issues: &mut Issues) {
    if request.engine == EngineName::Mmap && request.direct {
        issues.invalid(
            "conflicting_options",
            "direct",
            "ioengine=mmap requires direct=0: memory mappings use the page cache.",
            "Set direct=0, or use another engine such as psync.",
        );
    }
}

fn check_counts(job: &Job, issues: &mut Issues) {
    let thinktime_blocks = job.thinktime_blocks.map(u64::from);
    let largest = |sizes: &PerDirection<Bytes>| sizes.read.0.max(sizes.write.0).max(sizes.trim.0);
    // A value of 0 is reported separately.
    let offset_align = job
        .offset_align
        .map(|align| align.0)
        .filter(|align| *align > 0);
    let blockalign = job
        .blockalign
        .as_ref()
        .map(largest)
        .filter(|align| *align > 0);
    for (option, value, range) in [
        ("offset_align", offset_align, POSITIVE),
        ("blockalign", blockalign, POSITIVE),
        ("loops", job.loops, POSITIVE),
        ("number_ios", job.number_ios, JSON_INTEGER),
        ("io_size", job.io_size.and_then(Extent::bytes), JSON_INTEGER),
        ("thinktime_blocks", thinktime_blocks, POSITIVE_U32),
        ("randseed", job.randseed, JSON_INTEGER),
    ] {
        if let Some(value) = value {
            issues.check_range(option, value, range);
        }
    }
    if job.filesize.is_some_and(|bytes| bytes.0 == 0) {
        issues.invalid(
            "out_of_range",
            "filesize",
            "filesize must be greater than 0.",
            "Use a size such as 1g, or remove filesize.",
        );
    }
    if job.offset_align.is_some_and(|align| align.0 == 0) {
        issues.invalid(
            "out_of_range",
            "offset_align",
            "offset_align must be greater than 0.",
            "Use a size such as 4k, or remove offset_align.",
        );
    }
    let iodepth = job.iodepth();
    issues.check_range("iodepth", iodepth, IODEPTH);
    issues.check_range("nice", job.nice(), NICE);
    issues.check_range("prio", job.prio.unwrap_or(0), PRIO);
    issues.check_range("prioclass", job.prioclass.unwrap_or(0), PRIOCLASS);
}

fn check_times(job: &Job, issues: &mut Issues) {
    let runtime_us = job.runtime().0;
    if job.time_based() && runtime_us == 0 {
        issues.invalid(
            "missing_runtime",
            "runtime",
            "time_based requires runtime.",
            "Set a time such as runtime=30s, or remove time_based.",
        );
    }
    if runtime_us < RUNTIME.min.unsigned_abs() && !RUNTIME.contains(runtime_us) {
        issues.invalid(
            "out_of_range",
            "runtime",
            "runtime must be at least 1ms.",
            "Use a longer time. A number without a unit is in seconds.",
        );
    }
    let max_latency = job.max_latency.as_ref();
    for (option, us) in [
        ("runtime", runtime_us),
        ("ramp_time", job.ramp_time().0),
        ("startdelay", job.startdelay().max_us),
        ("thinktime", job.thinktime().0),
        ("thinktime_spin", job.thinktime_spin().0),
        ("thinktime_iotime", job.thinktime_iotime().0),
        ("steadystate_ramp_time", job.steadystate_ramp_time().0),
        ("latency_target", job.latency_target().0),
        ("latency_window", job.latency_window().0),
        (
            "max_latency",
            max_latency.map_or(0, |limit| limit.read.0.max(limit.write.0).max(limit.trim.0)),
        ),
    ] {
        if !TIME.contains(us) {
            let detail = format!("{option} must be at most 365d.");
            issues.invalid("out_of_range", option, detail, "Use a shorter time.");
        }
    }
}

fn check_rates(job: &Job, issues: &mut Issues) {
    let rate = job.rate.as_ref().map(|rate| rate.map(|bytes| bytes.0));
    if is_limited(rate) && is_limited(job.rate_iops) {
        issues.invalid(
            "conflicting_options",
            "rate_iops",
            "rate and rate_iops are mutually exclusive.",
            "Remove one of them.",
        );
    }
    let rate_min = job.rate_min.as_ref().map(|rate| rate.map(|bytes| bytes.0));
    if is_limited(rate_min) && is_limited(job.rate_iops_min) {
        issues.invalid(
            "conflicting_options",
            "rate_iops_min",
            "rate_min and rate_iops_min are mutually exclusive.",
            "Remove one of them.",
        );
    }
    check_min_rate("rate_min", rate_min, rate, issues);
    check_min_rate("rate_iops_min", job.rate_iops_min, job.rate_iops, issues);
    issues.check_range("rate_cycle", job.rate_cycle(), RATE_CYCLE);
}

/// Rejects a minimum above the maximum.
fn check_min_rate(
    option: &str,
    min: Option<PerDirection<u64>>,
    max: Option<PerDirection<u64>>,
    issues: &mut Issues,
) {
    let (Some(min), Some(max)) = (min, max) else {
        return;
    };
    let pairs = [
        (min.read, max.read),
        (min.write, max.write),
        (min.trim, max.trim),
    ];
    if pairs.iter().any(|(min, max)| *max > 0 && min > max) {
        let limit = option.trim_end_matches("_min");
        issues.invalid(
            "conflicting_options",
            option,
            format!("{option} exceeds {limit}."),
            format!("Use a smaller {option} or a larger {limit}."),
        );
    }
}

fn is_limited(rates: Option<PerDirection<u64>>) -> bool {
    rates.is_some_and(|rates| rates.read > 0 || rates.write > 0 || rates.trim > 0)
}

fn check_polling(request: &JobRequest, issues: &mut Issues) {
    let job = request.job;
    if job.hipri() && !request.direct && !request.is_null() {
        issues.invalid(
            "hipri_requires_direct",
            "hipri",
            "hipri requires direct=1: buffered I/O cannot be polled.",
            "Set direct=1, or remove hipri.",
        );
    }
    check_polled_syncs(request, issues);
    let iodepth = job.iodepth();
    if job.sqthread_poll()
        && request.engine.has_ring()
        && (MAX_SQPOLL_IODEPTH + 1..=MAX_IODEPTH).contains(&iodepth)
    {
        issues.invalid(
            "out_of_range",
            "iodepth",
            format!("iodepth must be at most {MAX_SQPOLL_IODEPTH} with sqthread_poll."),
            "Use a smaller iodepth, or remove sqthread_poll.",
        );
    }
    if !SPIN.contains(job.spin().0) {
        issues.invalid(
            "out_of_range",
            "spin",
            "spin must be at most 1s.",
            "Use a shorter time. A number without a unit is in microseconds.",
        );
    }
    if job.iodepth_batch_complete_min == Some(0) {
        issues.invalid(
            "out_of_range",
            "iodepth_batch_complete_min",
            "iodepth_batch_complete_min must be at least 1: unlike in fio, 0 does not enable polling.",
            "Use 1 or more. spin=100us polls for up to 100 µs before sleeping.",
        );
    }
}

/// A ring with IOPOLL accepts only reads and writes. Syncs fail with EINVAL (io_uring/sync.c).
fn check_polled_syncs(request: &JobRequest, issues: &mut Issues) {
    let job = request.job;
    if !job.hipri() || !request.engine.has_ring() || !request.rw.kind.writes() {
        return;
    }
    for (option, interval) in [("fsync", job.fsync()), ("fdatasync", job.fdatasync())] {
        if interval > 0 {
            issues.invalid(
                "conflicting_options",
                option,
                format!(
                    "hipri cannot be combined with {option}={interval}: a polled ring cannot sync."
                ),
                format!("Remove hipri, or use end_fsync or sync instead of {option}."),
            );
        }
    }
}
