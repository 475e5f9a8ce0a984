//! Resolves when jobs start, end and pause, and their rate limits.

use crate::plan::{job_request::JobRequest, steady_state, tolerated_errors, verify, zones};
use leadline_protocol::{
    job::{
        Job, direction::PerDirection, range::MAX_JSON_INTEGER, size::Extent, value::SecondsRange,
    },
    plan::job::{FlowOptions, LatencyTargetOptions, MinRate, TimingOptions},
};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

/// `size`: bytes of the first worker's region. `seed`: the job's seed.
pub(crate) fn resolve(request: &JobRequest, size: u64, seed: u64) -> TimingOptions {
    let job = request.job;
    let loops = job.loops();
    let runtime_ms = job.runtime().0 / 1000;
    let requested_io_size = job
        .io_size
        .and_then(|io_size| requested_io_size(io_size, size))
        .or_else(|| size_within_files(request, size));
    // `verify_only` and `create_only` measure nothing.
    let requested_io_size = if verify::is_verify_only(job) || job.create_only() {
        Some(0)
    } else {
        requested_io_size
    };
    TimingOptions {
        io_size: requested_io_size
            .unwrap_or(size)
            .saturating_mul(loops)
            .min(MAX_JSON_INTEGER),
        is_io_size_requested: requested_io_size.is_some(),
        runtime_ms: (runtime_ms > 0).then_some(runtime_ms),
        time_based: job.time_based(),
        ramp_ms: job.ramp_time().0.div_ceil(1000),
        startdelay_ms: startdelay_us(job, seed).div_ceil(1000),
        loops,
        // 0 means no limit, as in fio.
        number_ios: job.number_ios.filter(|ios| *ios > 0),
        rate: limits(job.rate.as_ref().map(|rate| rate.map(|bytes| bytes.0))),
        rate_iops: limits(job.rate_iops),
        rate_process: job.rate_process(),
        min_rate: min_rate(job),
        max_latency_us: max_latency_us(job),
        tolerated_errors: tolerated_errors::resolve(job),
        exitall: job.exitall(),
        exit_what: job.exit_what(),
        // Set by `exit_groups::assign`, because it depends on all jobs in the run.
        exit_group: 0,
        latency_target: (job.latency_target().0 > 0).then(|| LatencyTargetOptions {
            target_us: job.latency_target().0,
            window_us: job.latency_window().0,
            percentile: job.latency_percentile().0,
            continues: job.latency_run(),
        }),
        flow: (job.flow() > 0).then(|| FlowOptions {
            id: job.flow_id(),
            weight: job.flow(),
            sleep_us: job.flow_sleep(),
        }),
        // The pause includes the time spent spinning, so it cannot be shorter. If `thinktime` is
        // not set, there are no pauses.
        thinktime_us: match job.thinktime().0 {
            0 => 0,
            us => us.max(job.thinktime_spin().0),
        },
        thinktime_blocks: (job.thinktime_blocks.is_some() || job.thinktime_iotime().0 == 0)
            .then(|| job.thinktime_blocks()),
        thinktime_spin_us: job.thinktime_spin().0,
        thinktime_iotime_us: job.thinktime_iotime().0,
        steady_state: steady_state::options(job),
        // Set by `overload::options`, because it depends on the queue depth.
        overload: None,
    }
}

/// Chooses a delay within the range. The job's seed determines it, so the plan and the run use the
/// same delay.
fn startdelay_us(job: &Job, seed: u64) -> u64 {
    let SecondsRange { min_us, max_us } = job.startdelay();
    if min_us == max_us {
        return min_us;
    }
    Xoshiro256PlusPlus::seed_from_u64(seed).random_range(min_us..=max_us)
}

fn min_rate(job: &Job) -> Option<MinRate> {
    let bytes = limits(job.rate_min.as_ref().map(|rate| rate.map(|bytes| bytes.0)));
    let ios = limits(job.rate_iops_min);
    let is_given = |rate: &PerDirection<Option<u64>>| {
        [rate.read, rate.write, rate.trim]
            .iter()
            .any(Option::is_some)
    };
    (is_given(&bytes) || is_given(&ios)).then_some(MinRate {
        bytes,
        ios,
        cycle_ms: job.rate_cycle(),
    })
}

fn max_latency_us(job: &Job) -> Option<PerDirection<Option<u64>>> {
    let us = job.max_latency.as_ref()?.map(|limit| limit.0);
    let limits = limits(Some(us));
    [limits.read, limits.write, limits.trim]
        .iter()
        .any(Option::is_some)
        .then_some(limits)
}

/// `size` in bytes, if the job must transfer less than its regions contain: `filesize` and zones
/// can make the regions larger than `size`.
fn size_within_files(request: &JobRequest, regions: u64) -> Option<u64> {
    if request.filesize().is_none() && zones::resolve(request.job).is_none() {
        return None;
    }
    match request.job.size {
        Some(Extent::Bytes(size)) if size < regions && !request.job.file_append() => Some(size),
        _ => None,
    }
}

/// 0 means no limit, as in fio.
fn requested_io_size(io_size: Extent, size: u64) -> Option<u64> {
    match io_size {
        Extent::Bytes(0) | Extent::Percent(0) => None,
        Extent::Bytes(bytes) => Some(bytes),
        Extent::Percent(percent) => Some((u128::from(size) * u128::from(percent) / 100) as u64),
    }
}

/// 0 means unlimited, as in fio.
pub(super) fn limits(rates: Option<PerDirection<u64>>) -> PerDirection<Option<u64>> {
    match rates {
        Some(rates) => rates.map(|rate| (*rate > 0).then_some(*rate)),
        None => PerDirection::same(None),
    }
}
