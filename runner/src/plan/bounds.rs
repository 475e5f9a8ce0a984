//! Figures that stand for themselves: how large each may be, and which do not go together.

use crate::plan::asked::Asked;
use crate::plan::defaults::said;
use crate::plan::host_view::HostView;
use crate::plan::notes::Notes;
use leadline_protocol::job::Job;
use leadline_protocol::job::value::PerDirection;

/// The most I/Os in flight per clone: the entries that io_uring allows a ring (IORING_MAX_ENTRIES).
const MAX_IODEPTH: u32 = 32_768;
/// The most with a polling thread, which tells late what it has taken: its ring has two entries for each I/O.
const MAX_POLLED_IODEPTH: u32 = MAX_IODEPTH / 2;
/// Priorities that the kernel knows: nice(2).
const NICE: std::ops::RangeInclusive<i32> = -20..=19;
/// The longest spin in µs: within a second a run must stop.
const MAX_SPIN_US: u64 = 1_000_000;

/// The longest time in µs, 365 days: the sum of several is far from where nanoseconds overflow.
const MAX_TIME_US: u64 = 365 * 24 * 3600 * 1_000_000;

/// The largest whole number that every reader of JSON keeps exact.
pub(crate) const MAX_JSON_INTEGER: u64 = (1 << 53) - 1;

/// Refuses every figure that cannot be, and all pairs that cannot be together.
pub(crate) fn check(asked: &Asked, host: &dyn HostView, notes: &mut Notes) {
    check_counts(asked.job, notes);
    check_time(asked.job, notes);
    check_rates(asked.job, notes);
    check_polling(asked, notes);
    check_host(asked.job, host, notes);
}

fn check_counts(job: &Job, notes: &mut Notes) {
    let mut at_least_one = |option: &str, value: Option<u64>, leave: &str| {
        if value == Some(0) {
            notes.invalid(
                "out_of_range",
                option,
                format!("{option}=0 leaves nothing to do."),
                leave,
            );
        }
    };
    at_least_one("loops", job.loops, "Use 1 or more.");
    at_least_one(
        "number_ios",
        job.number_ios,
        "Leave number_ios out where I/Os are not to be bounded.",
    );
    at_least_one(
        "thinktime_blocks",
        job.thinktime_blocks.map(u64::from),
        "Use 1 or more.",
    );
    at_least_one(
        "filesize",
        job.filesize.map(|bytes| bytes.0),
        "Write a length such as 1g.",
    );
    let mut exact = |option: &str, value: Option<u64>| {
        if value.is_some_and(|value| value > MAX_JSON_INTEGER) {
            notes.invalid(
                "out_of_range",
                option,
                format!("{option} is larger than 2^53 - 1."),
                "Use a smaller figure.",
            );
        }
    };
    exact("randseed", job.randseed);
    exact("loops", job.loops);
    exact("number_ios", job.number_ios);
    let iodepth = said!(job, iodepth);
    if !(1..=MAX_IODEPTH).contains(&iodepth) {
        let remedy = format!("Use 1 to {MAX_IODEPTH}, the entries of a ring.");
        notes.invalid(
            "out_of_range",
            "iodepth",
            format!("iodepth={iodepth} cannot be kept in flight."),
            remedy,
        );
    }
    let nice = said!(job, nice);
    if !NICE.contains(&nice) {
        notes.invalid(
            "out_of_range",
            "nice",
            format!("nice={nice} is no priority of Linux."),
            "Use -20 to 19.",
        );
    }
}

fn check_time(job: &Job, notes: &mut Notes) {
    let runtime_us = said!(job, runtime).0;
    if said!(job, time_based).0 && runtime_us == 0 {
        let sentence = "time_based runs until runtime is over, and runtime is not said.";
        notes.invalid(
            "runtime_missing",
            "runtime",
            sentence,
            "Write a time such as runtime=30s, or leave time_based out.",
        );
    }
    if (1..1000).contains(&runtime_us) {
        let sentence = format!("runtime={runtime_us}us is shorter than any measurement.");
        notes.invalid(
            "out_of_range",
            "runtime",
            sentence,
            "Write at least 1ms; a bare number is seconds.",
        );
    }
    let (ramp_us, delay_us, pause_us) = (
        said!(job, ramp_time).0,
        said!(job, startdelay).0,
        said!(job, thinktime).0,
    );
    for (option, us) in [
        ("runtime", runtime_us),
        ("ramp_time", ramp_us),
        ("startdelay", delay_us),
        ("thinktime", pause_us),
    ] {
        if us > MAX_TIME_US {
            notes.invalid(
                "out_of_range",
                option,
                format!("{option} is longer than a year."),
                "Write at most 365d.",
            );
        }
    }
}

fn check_rates(job: &Job, notes: &mut Notes) {
    if is_limited(job.rate.as_ref().map(|rate| rate.map(|bytes| bytes.0)))
        && is_limited(job.rate_iops)
    {
        let sentence = "rate and rate_iops both say how fast the job may go.";
        notes.invalid(
            "rate_said_twice",
            "rate_iops",
            sentence,
            "Keep the one that is meant.",
        );
    }
}

fn check_polling(asked: &Asked, notes: &mut Notes) {
    if said!(asked.job, hipri).0 && !asked.direct && !asked.is_null() {
        let sentence = "hipri polls the device, and through the page cache no I/O waits for it.";
        notes.invalid(
            "hipri_needs_direct",
            "hipri",
            sentence,
            "Write direct=1, or leave hipri out.",
        );
    }
    check_polled_syncs(asked, notes);
    let iodepth = said!(asked.job, iodepth);
    if said!(asked.job, sqthread_poll).0
        && asked.engine.has_ring()
        && (MAX_POLLED_IODEPTH + 1..=MAX_IODEPTH).contains(&iodepth)
    {
        let sentence = format!("With sqthread_poll iodepth={iodepth} cannot be kept in flight.");
        let remedy = format!(
            "Use at most {MAX_POLLED_IODEPTH}, half of the entries of a ring, or leave sqthread_poll out."
        );
        notes.invalid("out_of_range", "iodepth", sentence, remedy);
    }
    if said!(asked.job, spin).0 > MAX_SPIN_US {
        let sentence = format!("spin={} is more than a second.", said!(asked.job, spin).0);
        notes.invalid(
            "out_of_range",
            "spin",
            sentence,
            "Write at most 1s; a bare number is microseconds.",
        );
    }
    if asked.job.iodepth_batch_complete_min == Some(0) {
        let sentence = "iodepth_batch_complete_min=0 only polls in fio; here a clone sleeps until one I/O is complete.";
        let remedy = "Use 1 or more, and spin=100us to look for completions that long before going to sleep.";
        notes.invalid(
            "out_of_range",
            "iodepth_batch_complete_min",
            sentence,
            remedy,
        );
    }
}

/// A ring that polls the device takes reads and writes alone: the kernel answers a sync with EINVAL (io_uring/sync.c), in the middle
/// of the run.
fn check_polled_syncs(asked: &Asked, notes: &mut Notes) {
    let job = asked.job;
    if !(said!(job, hipri).0 && asked.engine.has_ring() && asked.rw.kind.writes()) {
        return;
    }
    for (option, every) in [
        ("fsync", said!(job, fsync)),
        ("fdatasync", said!(job, fdatasync)),
    ] {
        if every > 0 {
            let sentence = format!(
                "hipri and {option}={every} do not go together: a ring that polls the device does no syncs."
            );
            let remedy =
                format!("Leave hipri out, or use end_fsync=1 or sync=dsync instead of {option}.");
            notes.invalid("hipri_without_syncs", option, sentence, remedy);
        }
    }
}

fn is_limited(rates: Option<PerDirection<u64>>) -> bool {
    rates.is_some_and(|rates| rates.read > 0 || rates.write > 0 || rates.trim > 0)
}

fn check_host(job: &Job, host: &dyn HostView, notes: &mut Notes) {
    if let Some(allowed) = &job.cpus_allowed {
        let online = host.cpus();
        let missing: Vec<String> = allowed
            .0
            .iter()
            .filter(|cpu| !online.contains(cpu))
            .map(u32::to_string)
            .collect();
        if !missing.is_empty() {
            let sentence = format!(
                "This host has no processor {} for the runner.",
                missing.join(", ")
            );
            notes.environment(
                "no_such_cpu",
                "cpus_allowed",
                sentence,
                format!("Choose among {online:?}."),
            );
        }
    }
    if said!(job, drop_caches).0 && !host.may_drop_caches() {
        let remedy =
            "Run as root, or leave drop_caches out: invalidate=1 drops the target's own pages.";
        notes.environment(
            "needs_root",
            "drop_caches",
            "Only root may drop the caches of the host.",
            remedy,
        );
    }
    if said!(job, nice) < 0 && !host.may_drop_caches() {
        notes.environment(
            "needs_root",
            "nice",
            "Only root may raise its priority.",
            "Run as root, or use nice=0 or more.",
        );
    }
}
