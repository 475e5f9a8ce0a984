//! One job from asked to resolved: the rooms of the plan in their order. What stands by itself is copied here; nothing
//! below the plan asks for a default again.

use crate::plan::asked::Asked;
use crate::plan::bounds::MAX_JSON_INTEGER;
use crate::plan::defaults::said;
use crate::plan::host_view::HostView;
use crate::plan::ledger::Ledger;
use crate::plan::notes::Notes;
use crate::plan::sizes::Sizes;
use crate::plan::{alignment, bounds, layout, paths, regions};
use leadline_protocol::format::bytes;
use leadline_protocol::job::Job;
use leadline_protocol::job::value::{Extent, Fadvise, PerDirection};
use leadline_protocol::plan::resolved::{
    DataOptions, Mode, PatternOptions, ResolvedJob, RingOptions, Target, TargetKind, TargetOptions,
    TimingOptions,
};

/// A job of the run, by its number; `None` where too much is wrong for a region.
pub(crate) fn job(
    asked: &Asked,
    number: usize,
    host: &dyn HostView,
    ledger: &mut Ledger,
    notes: &mut Notes,
) -> Option<ResolvedJob> {
    bounds::check(asked, host, notes);
    let sizes = Sizes::settle(asked, notes);
    let places = paths::find(asked, host, notes);
    let regions = regions::settle(asked, &sizes, &places, ledger, notes)?;
    alignment::check(asked, &sizes, &places, &regions, notes);
    let targets = layout::settle(asked, number, &places, &regions, ledger, notes);
    let smallest = sizes.smallest();
    let job = resolved(asked, number, sizes, &regions, targets, host);
    check_io_size(&job, smallest, notes);
    Some(job)
}

fn resolved(
    asked: &Asked,
    number: usize,
    sizes: Sizes,
    regions: &regions::Regions,
    targets: Vec<Target>,
    host: &dyn HostView,
) -> ResolvedJob {
    let job = asked.job;
    let (rw, loops) = (asked.rw.kind, said!(job, loops));
    let size = first_clone(&targets);
    let pre_read = said!(job, pre_read).0 && !asked.is_null();
    let iodepth = said!(job, iodepth);
    ResolvedJob {
        name: asked.name.clone(),
        mode: mode(asked, &targets),
        numjobs: asked.numjobs,
        direct: asked.direct,
        cpus_allowed: job
            .cpus_allowed
            .as_ref()
            .map(|cpus| cpus.0.clone())
            .unwrap_or_default(),
        nice: said!(job, nice),
        probes: said!(job, probes).0,
        request_sizes: said!(job, request_sizes).0,
        profile: said!(job, profile).0,
        targets,
        target: TargetOptions {
            size,
            offset: regions.offset,
            offset_increment: regions.increment,
            // As in fio, what was read in on purpose is not dropped again.
            invalidate: said!(job, invalidate).0 && !pre_read && !asked.is_null(),
            pre_read,
            fadvise_hint: fadvise(asked),
            drop_caches: said!(job, drop_caches).0,
            sync: said!(job, sync),
            end_fsync: said!(job, end_fsync).0,
            fallocate: said!(job, fallocate),
            overwrite: said!(job, overwrite).0,
            file_append: said!(job, file_append).0,
            create_on_open: said!(job, create_on_open).0,
            unlink: said!(job, unlink).0,
            file_state: said!(job, file_state),
            cache_state: said!(job, cache_state),
        },
        pattern: PatternOptions {
            rw,
            rw_modifier: asked.rw.modifier,
            rwmixread: (rw.reads() && rw.writes()).then(|| rwmixread(job)),
            norandommap: said!(job, norandommap).0,
            random_distribution: said!(job, random_distribution),
            percentage_random: said!(job, percentage_random).map(|percent| percent.0),
            randseed: seed(job, number, host),
            bs: sizes.bs,
            blockalign: sizes.blockalign,
            fsync: said!(job, fsync),
            fdatasync: said!(job, fdatasync),
        },
        timing: TimingOptions {
            io_size: io_size(job.io_size, size)
                .saturating_mul(loops)
                .min(MAX_JSON_INTEGER),
            runtime_ms: Some(said!(job, runtime).0 / 1000).filter(|ms| *ms > 0),
            time_based: said!(job, time_based).0,
            ramp_ms: said!(job, ramp_time).0.div_ceil(1000),
            startdelay_ms: said!(job, startdelay).0.div_ceil(1000),
            loops,
            number_ios: job.number_ios,
            rate: limits(job.rate.as_ref().map(|rate| rate.map(|bytes| bytes.0))),
            rate_iops: limits(job.rate_iops),
            rate_process: said!(job, rate_process),
            thinktime_us: said!(job, thinktime).0,
            thinktime_blocks: said!(job, thinktime_blocks),
        },
        ring: RingOptions {
            iodepth,
            iodepth_batch_submit: job.iodepth_batch_submit.map(|batch| {
                if batch == 0 {
                    iodepth
                } else {
                    batch.min(iodepth)
                }
            }),
            iodepth_batch_complete_min: job
                .iodepth_batch_complete_min
                .map(|batch| batch.min(iodepth)),
            // Over all jobs of the run: `memory::register`.
            fixedbufs: false,
            fixedbufs_said: false,
            hipri: said!(job, hipri).0,
            sqthread_poll: said!(job, sqthread_poll).0,
            spin_us: said!(job, spin).0,
            mem: said!(job, mem),
            ioengine: asked.engine,
        },
        data: DataOptions {
            zero_buffers: writes_zeros(job),
            refill_buffers: refills(job),
            buffer_compress_percentage: said!(job, buffer_compress_percentage).0,
            dedupe_percentage: said!(job, dedupe_percentage).0,
        },
    }
}

fn mode(asked: &Asked, targets: &[Target]) -> Mode {
    match targets.first().map(|target| target.kind) {
        Some(TargetKind::Null) | None => Mode::Null,
        Some(TargetKind::Device | TargetKind::Loop) => Mode::Raw,
        Some(TargetKind::File) if asked.direct => Mode::Direct,
        Some(TargetKind::File) => Mode::Buffered,
    }
}

fn first_clone(targets: &[Target]) -> u64 {
    targets
        .iter()
        .filter(|target| target.worker.unwrap_or(0) == 0)
        .map(|target| target.size)
        .sum()
}

fn io_size(asked: Option<Extent>, size: u64) -> u64 {
    match asked {
        // 0 is not said, as in fio.
        None | Some(Extent::Bytes(0) | Extent::Percent(0)) => size,
        Some(Extent::Bytes(bytes)) => bytes,
        Some(Extent::Percent(percent)) => (u128::from(size) * u128::from(percent) / 100) as u64,
    }
}

/// Refuses less work than one I/O, which would end before it began.
fn check_io_size(job: &ResolvedJob, smallest: u64, notes: &mut Notes) {
    // 0 is loops=0, which is refused by its own name.
    if (1..smallest).contains(&job.timing.io_size) {
        let sentence = format!(
            "An I/O of {} does not fit into an io_size of {}.",
            bytes(smallest),
            bytes(job.timing.io_size)
        );
        notes.invalid(
            "block_larger_than_io_size",
            "io_size",
            sentence,
            "Use a larger io_size, or leave it out.",
        );
    }
}

/// The two options are one figure; the parser kept the later one.
fn rwmixread(job: &Job) -> u8 {
    job.rwmixwrite
        .map_or_else(|| said!(job, rwmixread).0, |writes| 100 - writes.0)
}

/// Jobs of one run go different ways, also where they say the same seed (fio init.c, which goes by the thread's number): else they
/// would follow on each other's heels, from cache to cache.
fn seed(job: &Job, number: usize, host: &dyn HostView) -> u64 {
    /// An odd number without a pattern: the golden ratio of 2^64.
    const JOB_STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = if said!(job, randrepeat).0 || job.randseed.is_some() {
        said!(job, randseed)
    } else {
        host.entropy()
    };
    first.wrapping_add(JOB_STRIDE.wrapping_mul(number as u64)) & MAX_JSON_INTEGER
}

fn fadvise(asked: &Asked) -> Fadvise {
    match said!(asked.job, fadvise_hint) {
        _ if asked.is_null() => Fadvise::None,
        Fadvise::ByPattern if asked.rw.kind.is_random() => Fadvise::Random,
        Fadvise::ByPattern => Fadvise::Sequential,
        hint => hint,
    }
}

fn limits(rates: Option<PerDirection<u64>>) -> PerDirection<Option<u64>> {
    rates.map_or(PerDirection::same(None), |rates| {
        rates.map(|rate| Some(*rate).filter(|rate| *rate > 0))
    })
}

/// Data that compresses away altogether is zeros (fio init.c:1017-1032, 3.42).
fn writes_zeros(job: &Job) -> bool {
    said!(job, zero_buffers).0 || said!(job, buffer_compress_percentage).0 == 100
}

/// Shares hold over many blocks, so they need fresh data for every write (fio, same place).
fn refills(job: &Job) -> bool {
    let shares =
        said!(job, buffer_compress_percentage).0 > 0 || said!(job, dedupe_percentage).0 > 0;
    !writes_zeros(job) && (said!(job, refill_buffers).0 || shares)
}
