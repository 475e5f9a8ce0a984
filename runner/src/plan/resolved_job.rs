//! Resolves one job: applies the defaults of all options. No other code applies defaults.

use crate::plan::{
    alignment, block_sizes::JobBlockSizes, command_priorities, host_checks, host_view::HostView,
    issues::Issues, job_request::JobRequest, layout, option_checks, overload, regions,
    space_budget::SpaceBudget, steady_state, target_paths, timing, verify, zones,
};
use leadline_protocol::{
    format::bytes,
    job::{
        Job,
        direction::PerDirection,
        distribution::Distribution,
        keyword::{DedupeMode, Fadvise},
        range::MAX_JSON_INTEGER,
    },
    plan::{
        job::{
            BufferRegistration, DataOptions, DedupeWorkingSet, IoPriority, Mode, PatternOptions,
            ResolvedJob, RingOptions, TargetOptions,
        },
        target::{Target, TargetKind},
    },
};

/// `index`: position in the run. Returns `None` if no region can be resolved.
pub(crate) fn resolve(
    request: &JobRequest,
    index: usize,
    host: &dyn HostView,
    budget: &mut SpaceBudget,
    issues: &mut Issues,
) -> Option<ResolvedJob> {
    option_checks::check(request, issues);
    command_priorities::check(request, host, issues);
    steady_state::check(request.job, issues);
    overload::check(request, issues);
    zones::check(request, issues);
    host_checks::check(request.job, host, issues);
    let sizes = JobBlockSizes::resolve(request, issues);
    verify::check(request, &sizes, issues);
    let paths = target_paths::resolve(request, host, budget, issues);
    option_checks::check_fill(request, &paths, issues);
    let regions = regions::resolve(request, &sizes, &paths, budget, issues)?;
    alignment::check(request, &sizes, &paths, &regions, issues);
    let targets = layout::resolve(request, index, &paths, &regions, budget, issues);
    verify::check_targets(request.job, &targets, issues);
    layout::check_reads_without_layout(request, &targets, issues);
    let first_worker = targets
        .iter()
        .filter(|target| target.worker.unwrap_or(0) == 0);
    let size = first_worker.map(|target| target.size).sum();
    let seed = seed(request.job, index, host);
    let timing = timing::resolve(request, size, seed);
    check_io_size(timing.io_size, sizes.smallest(), issues);
    let job = request.job;
    let data = data_options(job, &sizes, size);
    let mut resolved = ResolvedJob {
        name: request.name.clone(),
        mode: mode(request, &targets),
        numjobs: request.numjobs,
        direct: request.direct,
        cpus_allowed: match &job.cpus_allowed {
            Some(cpus) => cpus.0.clone(),
            None => Vec::new(),
        },
        cpus_allowed_policy: job.cpus_allowed_policy(),
        nice: job.nice(),
        io_priority: io_priority(job),
        command_priorities: command_priorities::options(job),
        probes: job.probes(),
        request_sizes: job.request_sizes(),
        profile: job.profile(),
        targets,
        target: target_options(request, size, &regions),
        pattern: pattern_options(request, sizes, seed),
        timing,
        ring: ring_options(request),
        tsc_clock: host.has_tsc_clock(),
        data,
    };
    if resolved.verify_backlog().is_some() {
        // `verify_backlog` reads have the same sizes and offsets as the writes.
        let pattern = &mut resolved.pattern;
        pattern.bs.read = pattern.bs.write.clone();
        pattern.blockalign.read = pattern.blockalign.write;
    }
    resolved.timing.overload = overload::options(job, &resolved);
    Some(resolved)
}

fn distribution(job: &Job) -> PerDirection<Distribution> {
    let is_strided = job.random_sequence_stride();
    job.random_distribution()
        .map(|distribution| match distribution {
            Distribution::Sequence { blocks, .. } => Distribution::Sequence {
                blocks: blocks.clone(),
                is_strided,
            },
            other => other.clone(),
        })
}

/// If no class is set, the level belongs to the best-effort class, as in fio.
fn io_priority(job: &Job) -> Option<IoPriority> {
    const BEST_EFFORT: u8 = 2;
    let is_given = job.prio.is_some() || job.prioclass.is_some();
    is_given.then(|| IoPriority {
        class: match job.prioclass {
            None | Some(0) => BEST_EFFORT,
            Some(class) => class as u8,
        },
        level: job.prio.unwrap_or(0) as u8,
    })
}

fn mode(request: &JobRequest, targets: &[Target]) -> Mode {
    match targets.first().map(|target| target.kind) {
        Some(TargetKind::Null) | None => Mode::Null,
        Some(TargetKind::Device | TargetKind::Loop) => Mode::Raw,
        Some(TargetKind::File) if request.direct => Mode::Direct,
        Some(TargetKind::File) => Mode::Buffered,
    }
}

fn target_options(request: &JobRequest, size: u64, regions: &regions::Regions) -> TargetOptions {
    let job = request.job;
    let pre_read = job.pre_read() && !request.is_null();
    TargetOptions {
        size,
        offset: regions.offset,
        offset_increment: regions.increment,
        // As in fio, pre_read disables invalidate.
        invalidate: job.invalidate() && !pre_read && !request.is_null(),
        pre_read,
        fadvise_hint: fadvise(request),
        drop_caches: job.drop_caches(),
        sync: job.sync(),
        end_fsync: job.end_fsync() || job.fsync_on_close(),
        fallocate: job.fallocate(),
        overwrite: job.overwrite(),
        file_append: job.file_append(),
        create_on_open: job.create_on_open(),
        unlink: job.unlink(),
        create_only: job.create_only(),
        file_state: job.file_state(),
        cache_state: job.cache_state(),
        lockmem: job.lockmem().0,
    }
}

fn fadvise(request: &JobRequest) -> Fadvise {
    if request.is_null() {
        return Fadvise::None;
    }
    match request.job.fadvise_hint() {
        Fadvise::ByPattern if request.rw.kind.is_random() => Fadvise::Random,
        Fadvise::ByPattern => Fadvise::Sequential,
        hint => hint,
    }
}

fn pattern_options(request: &JobRequest, sizes: JobBlockSizes, randseed: u64) -> PatternOptions {
    let job = request.job;
    let rw = request.rw.kind;
    // As in fio, an alignment other than the block size disables the random map.
    let is_realigned = rw.is_random() && sizes.used().any(|(bs, align)| align != bs.min);
    PatternOptions {
        rw,
        rw_modifier: request.rw.modifier,
        rwmixread: (rw.reads() && rw.writes()).then(|| rwmixread(job)),
        norandommap: job.norandommap() || is_realigned,
        random_distribution: distribution(job),
        file_service: job.file_service_type(),
        rw_sequencer: job.rw_sequencer(),
        percentage_random: job.percentage_random().map(|percent| percent.0),
        zones: zones::resolve(job),
        randseed,
        bs: sizes.bs,
        sequential_bs: sizes.sequential,
        blockalign: sizes.blockalign,
        fsync: job.fsync(),
        fdatasync: job.fdatasync(),
    }
}

/// If both `rwmixread` and `rwmixwrite` are set, the parser keeps only the later one.
fn rwmixread(job: &Job) -> u8 {
    match job.rwmixwrite {
        Some(writes) => 100 - writes.0,
        None => job.rwmixread().0,
    }
}

/// Jobs with the same `randseed` still use different seeds, derived from their index (as in fio,
/// init.c). Otherwise they would access the same blocks in the same order and hit each other's
/// cache.
fn seed(job: &Job, index: usize, host: &dyn HostView) -> u64 {
    /// 2^64 divided by the golden ratio.
    const JOB_STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = if job.randrepeat() || job.randseed.is_some() {
        job.randseed()
    } else {
        host.entropy()
    };
    first.wrapping_add(JOB_STRIDE.wrapping_mul(index as u64)) & MAX_JSON_INTEGER
}

fn check_io_size(io_size: u64, smallest: u64, issues: &mut Issues) {
    // 0 comes from loops=0, which is already rejected.
    if (1..smallest).contains(&io_size) {
        issues.invalid(
            "block_larger_than_io_size",
            "io_size",
            format!(
                "The block size of {} exceeds io_size ({}).",
                bytes(smallest),
                bytes(io_size)
            ),
            "Use a larger io_size, or remove it.",
        );
    }
}

fn ring_options(request: &JobRequest) -> RingOptions {
    let job = request.job;
    let iodepth = job.iodepth();
    RingOptions {
        iodepth,
        iodepth_batch_submit: job.iodepth_batch_submit.map(|batch| match batch {
            0 => iodepth,
            _ => batch.min(iodepth),
        }),
        iodepth_batch_complete_min: job
            .iodepth_batch_complete_min
            .map(|batch| batch.min(iodepth)),
        // Set by `memory::resolve_registration`, because it depends on all jobs in the run.
        fixedbufs: BufferRegistration::Off,
        hipri: job.hipri(),
        sqthread_poll: job.sqthread_poll(),
        spin_us: job.spin().0,
        mem: job.mem(),
        ioengine: request.engine,
    }
}

fn data_options(job: &Job, sizes: &JobBlockSizes, size: u64) -> DataOptions {
    let compress = job.buffer_compress_percentage().0;
    let dedupe = job.dedupe_percentage().0;
    let pattern = job.buffer_pattern.clone();
    // A pattern takes precedence over zeros. Fully compressible data is all zeros, and percentages
    // require new data for each write (fio 3.42, init.c:1017-1032).
    let is_random = pattern.is_none();
    let zero_buffers = is_random && (job.zero_buffers() || compress == 100);
    let refill_buffers = is_random && (job.refill_buffers() || compress > 0 || dedupe > 0);
    let is_constant = is_random && !refill_buffers && !zero_buffers;
    DataOptions {
        zero_buffers,
        scramble_buffers: Some(job.scramble_buffers() && is_constant),
        refill_buffers: refill_buffers && !zero_buffers,
        buffer_compress_percentage: compress,
        dedupe_percentage: dedupe,
        dedupe_working_set: (dedupe > 0 && job.dedupe_mode() == DedupeMode::WorkingSet)
            .then(|| working_set(job, size, sizes.bs.write.min)),
        // Set by `dedupe::share_jobs`, because it depends on all jobs in the run.
        dedupe_jobs: Vec::new(),
        buffer_pattern: pattern,
        verify: verify::options(job, sizes),
        verify_pattern: job
            .verify_pattern
            .clone()
            .filter(|_| verify::is_enabled(job)),
    }
}

/// Sizes the working set as in fio (dedupe.c, `init_dedupe_working_set_seeds`).
fn working_set(job: &Job, size: u64, block: u64) -> DedupeWorkingSet {
    let percent = job.dedupe_working_set_percentage().0;
    let bytes = (u128::from(size) * u128::from(percent) / 100) as u64;
    DedupeWorkingSet {
        blocks: (bytes / block.max(1)).max(1),
        is_global: job.dedupe_global(),
    }
}
