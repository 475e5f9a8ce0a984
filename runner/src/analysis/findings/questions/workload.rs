//! Properties of a run's jobs that determine which question they match.

use leadline_protocol::{
    job::{distribution::Distribution, engine::EngineName, keyword::SyncMode},
    plan::job::{Mode, ResolvedJob},
};

/// Minimum number of blocks in a random pattern. With fewer, it accesses the same blocks
/// repeatedly.
const MIN_RANDOM_BLOCKS: u64 = 1000;

/// The common workload of all jobs in a run, which start together and differ only in their names
/// and targets.
pub(crate) struct Workload {
    pub random: bool,
    pub reads: bool,
    pub writes: bool,
    /// Percentage of reads in a mixed pattern.
    pub rwmixread: Option<u8>,
    /// Size of the largest I/O, in bytes.
    pub max_bytes: u64,
    /// Size of all I/Os, in bytes; `None` if the sizes differ.
    pub bytes: Option<u64>,
    pub workers: u64,
    /// I/Os in flight across all workers.
    pub in_flight: u64,
    pub direct: bool,
    /// Whether files are opened with `O_SYNC` or `O_DSYNC`.
    pub sync_writes: bool,
    /// Whether files are memory-mapped, so that a flush is an msync(2) of the whole region.
    pub is_mapped: bool,
    /// The system call that flushes each write.
    pub flush: Option<&'static str>,
}

impl Workload {
    /// `None` if the jobs differ, are throttled or pause between I/Os, trim, do not use exactly one
    /// device, or are neither sequential nor random.
    pub(crate) fn of(jobs: &[ResolvedJob]) -> Option<Self> {
        let (first, others) = jobs.split_first()?;
        let is_unlimited = jobs.iter().all(|job| !is_limited(job)) && use_one_device(jobs);
        let is_same = others.iter().all(|job| is_same(job, first));
        if !is_unlimited || !is_same || first.pattern.rw.trims() {
            return None;
        }
        let pattern = &first.pattern;
        let (reads, writes) = (pattern.rw.reads(), pattern.rw.writes());
        let workers: u64 = jobs.iter().map(|job| u64::from(job.numjobs)).sum();
        let used = [(reads, &pattern.bs.read), (writes, &pattern.bs.write)];
        let sizes: Vec<_> = used
            .iter()
            .filter_map(|(is_used, bs)| is_used.then_some(*bs))
            .collect();
        let max_bytes = sizes.iter().map(|bs| bs.max).max()?;
        let is_fixed = sizes
            .iter()
            .all(|bs| bs.min == max_bytes && bs.split.is_empty());
        Some(Self {
            random: is_random(jobs, max_bytes)?,
            reads,
            writes,
            rwmixread: pattern.rwmixread,
            max_bytes,
            bytes: is_fixed.then_some(max_bytes),
            workers,
            in_flight: workers * u64::from(first.in_flight()),
            direct: first.direct,
            sync_writes: first.target.sync != SyncMode::None,
            is_mapped: first.ring.ioengine == EngineName::Mmap,
            flush: flush_call(first),
        })
    }

    /// Whether a flush must also write the data, because the data is in the page cache.
    pub(crate) fn flush_writes_data(&self) -> bool {
        self.flush.is_some() && !self.direct && !self.sync_writes && !self.is_mapped
    }

    pub(crate) fn is_mixed(&self) -> bool {
        self.reads && self.writes
    }
}

fn is_same(job: &ResolvedJob, other: &ResolvedJob) -> bool {
    let shape = |job: &ResolvedJob| {
        let pattern = &job.pattern;
        let kind = (pattern.rw, pattern.rwmixread, pattern.bs.clone());
        let order = (
            pattern.rw_modifier,
            pattern.zones,
            pattern.percentage_random,
            pattern.random_distribution.clone(),
        );
        let durability = (pattern.fsync, pattern.fdatasync, job.target.sync);
        // Results cannot be added up if the jobs run at different times.
        let timing = &job.timing;
        let time = (timing.startdelay_ms, timing.runtime_ms, timing.time_based);
        (kind, order, time, durability, job.direct, job.in_flight())
    };
    shape(job) == shape(other)
}

/// Whether all I/Os go to random blocks (true), or each follows the one before it (false). `None`
/// for patterns in between, such as `rw=write:4m`, which leaves gaps, and `rw=randread:64`, which
/// reads 64 blocks one after another.
fn is_random(jobs: &[ResolvedJob], max_bytes: u64) -> Option<bool> {
    let pattern = &jobs[0].pattern;
    let has_gaps = pattern.rw_modifier.is_some_and(|modifier| modifier != 0);
    if pattern.zones.is_some() || (has_gaps && pattern.rw_modifier != Some(1)) {
        return None;
    }
    if !pattern.rw.is_random() {
        return (!has_gaps).then_some(false);
    }
    let used = [
        (
            pattern.rw.reads(),
            pattern.percentage_random.read,
            &pattern.random_distribution.read,
        ),
        (
            pattern.rw.writes(),
            pattern.percentage_random.write,
            &pattern.random_distribution.write,
        ),
    ];
    let is_uniform = used.iter().all(|(is_used, percent, distribution)| {
        !is_used || (*percent == 100 && **distribution == Distribution::Random)
    });
    let is_large = jobs.iter().all(|job| {
        let bytes: u64 = job.targets.iter().map(|target| target.size).sum();
        bytes >= MIN_RANDOM_BLOCKS * max_bytes
    });
    (is_uniform && is_large).then_some(true)
}

/// Whether the job does no measured I/O, throttles it, searches for a depth (`latency_target`),
/// verifies blocks while it writes, or flushes only some of its writes.
fn is_limited(job: &ResolvedJob) -> bool {
    let timing = &job.timing;
    let pattern = &job.pattern;
    job.mode == Mode::Null
        || !job.is_measured()
        || job.has_rate()
        || timing.thinktime_us > 0
        || timing.flow.is_some()
        || timing.latency_target.is_some()
        || job.verify_backlog().is_some()
        || pattern.fsync.max(pattern.fdatasync) > 1
}

/// Whether all jobs use the same device. The IOPS of two disks are not a result for one disk.
fn use_one_device(jobs: &[ResolvedJob]) -> bool {
    let mut devices = jobs
        .iter()
        .flat_map(|job| &job.targets)
        .map(|target| &target.device);
    let first = devices.next().and_then(Option::as_ref);
    first.is_some_and(|first| devices.all(|device| device.as_ref() == Some(first)))
}

fn flush_call(job: &ResolvedJob) -> Option<&'static str> {
    match (job.pattern.fdatasync, job.pattern.fsync) {
        (1, _) => Some("fdatasync"),
        (_, 1) => Some("fsync"),
        _ => None,
    }
}
