//! A job with all defaults resolved.

use crate::{
    job::{
        direction::PerDirection,
        distribution::Distribution,
        engine::{BufferPages, EngineName},
        file_service::FileService,
        keyword::{CacheState, CpuPolicy, Fadvise, Fallocate, FileState, RwSequencer, SyncMode},
        rw::RwKind,
        size::SplitEntry,
    },
    named_enum::named_enum,
    plan::{command_priorities::CommandPriorities, target::Target},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crate::plan::data::{DataOptions, DedupeWorkingSet, VerifyBacklog, VerifyOptions};
pub use crate::plan::timing::{
    FlowOptions, LatencyTargetOptions, MinRate, OverloadOptions, SteadyStateOptions, TimingOptions,
    ToleratedErrors,
};

named_enum! {
    names: "snake_case";
    /// I/O path of a job.
    pub enum Mode {
        /// File through the page cache.
        Buffered,
        /// File with `O_DIRECT`.
        Direct,
        /// Block device; see `direct`.
        Raw,
        /// No I/O.
        Null,
    }
}

/// A job with all defaults resolved. Sizes are in bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ResolvedJob {
    pub name: String,
    pub mode: Mode,
    pub targets: Vec<Target>,
    #[serde(flatten)]
    pub target: TargetOptions,
    #[serde(flatten)]
    pub pattern: PatternOptions,
    #[serde(flatten)]
    pub timing: TimingOptions,
    #[serde(flatten)]
    pub ring: RingOptions,
    #[serde(flatten)]
    pub data: DataOptions,
    /// Number of workers.
    pub numjobs: u32,
    /// `O_DIRECT`.
    pub direct: bool,
    /// CPUs that the workers may run on; empty for all.
    pub cpus_allowed: Vec<u32>,
    /// How the workers share these CPUs.
    #[serde(default)]
    #[schema(required = true)]
    pub cpus_allowed_policy: CpuPolicy,
    pub nice: i32,
    /// Null if the I/O priority is derived from `nice`, and for runs recorded before the option was
    /// introduced.
    #[serde(default)]
    pub io_priority: Option<IoPriority>,
    /// Null if all I/Os have the priority of the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_priorities: Option<CommandPriorities>,
    /// Whether kernel counters are sampled.
    #[serde(default = "probes_default")]
    #[schema(required = true)]
    pub probes: bool,
    /// Whether request sizes at the device are counted.
    #[serde(default)]
    #[schema(required = true)]
    pub request_sizes: bool,
    /// Whether the runner's stacks are sampled.
    #[serde(default)]
    #[schema(required = true)]
    pub profile: bool,
    /// Whether the runner reads the time stamp counter instead of calling clock_gettime. Not
    /// serialized.
    #[serde(skip)]
    pub tsc_clock: bool,
}

/// I/O priority of the workers; see ioprio_set(2).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct IoPriority {
    /// 1: realtime, 2: best effort, 3: idle.
    pub class: u8,
    /// 0 (highest) to 7.
    pub level: u8,
}

/// Runs stored before the option was introduced sampled the counters.
fn probes_default() -> bool {
    true
}

/// Size, allocation and caching of the targets.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TargetOptions {
    /// Bytes per worker, across its targets.
    pub size: u64,
    /// Start of the region in each target.
    pub offset: u64,
    /// Added to the offset for each worker.
    pub offset_increment: u64,
    pub invalidate: bool,
    pub pre_read: bool,
    /// Never `1`: hints derived from `rw` are resolved.
    pub fadvise_hint: Fadvise,
    pub drop_caches: bool,
    pub sync: SyncMode,
    pub end_fsync: bool,
    pub fallocate: Fallocate,
    pub overwrite: bool,
    pub file_append: bool,
    pub create_on_open: bool,
    pub unlink: bool,
    /// Whether the job only creates its files, without a measurement.
    #[serde(default)]
    #[schema(required = true)]
    pub create_only: bool,
    /// As requested. It has already been applied to the other options.
    #[serde(default)]
    #[schema(required = true)]
    pub file_state: FileState,
    /// As requested. It has already been applied to the other options.
    #[serde(default)]
    #[schema(required = true)]
    pub cache_state: CacheState,
    /// Bytes of memory that each worker locks.
    #[serde(default)]
    #[schema(required = true)]
    pub lockmem: u64,
}

/// Offsets, sizes and directions of the I/Os.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PatternOptions {
    pub rw: RwKind,
    /// `:N` modifier of `rw`; null if not given.
    pub rw_modifier: Option<i64>,
    /// Percentage of reads; null if the pattern is not mixed.
    pub rwmixread: Option<u8>,
    pub bs: PerDirection<BlockSizes>,
    /// Sizes of sequential I/Os in a random pattern; null if they are the same (`bs_is_seq_rand`).
    #[serde(default)]
    pub sequential_bs: Option<BlockSizes>,
    /// Alignment of random offsets in bytes.
    pub blockalign: PerDirection<u64>,
    pub random_distribution: PerDirection<Distribution>,
    /// Percentage of random I/Os.
    pub percentage_random: PerDirection<u8>,
    pub norandommap: bool,
    /// Order in which a worker uses its files.
    #[serde(default)]
    #[schema(required = true)]
    pub file_service: FileService,
    #[serde(default)]
    #[schema(required = true)]
    pub rw_sequencer: RwSequencer,
    /// Null unless `zonemode=strided`.
    #[serde(default)]
    pub zones: Option<StridedZones>,
    /// Random seed of worker 0.
    pub randseed: u64,
    /// fsync after every N writes; 0 disables.
    pub fsync: u32,
    /// fdatasync after every N writes; 0 disables.
    pub fdatasync: u32,
}

/// Zones of sequential access, in bytes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct StridedZones {
    /// Bytes to transfer in each zone.
    pub size: u64,
    /// Length of a zone.
    pub range: u64,
    /// Gap between zones.
    pub skip: u64,
}

/// Block sizes for one direction.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct BlockSizes {
    /// In bytes; all sizes are multiples of this size, except if `unaligned` is set.
    pub min: u64,
    /// In bytes.
    pub max: u64,
    /// Empty if sizes are uniformly distributed multiples of `min` up to `max`.
    pub split: Vec<SplitEntry>,
    /// Whether sizes that are not multiples of `min` are allowed; absent if false.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schema(default = false)]
    pub unaligned: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Whether the I/O buffers are registered with the ring. Serialized as a boolean.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "bool", into = "bool")]
pub enum BufferRegistration {
    /// Requested: the run fails if the kernel rejects it.
    Required,
    /// Registered if the kernel accepts it.
    Preferred,
    #[default]
    Off,
}

impl From<bool> for BufferRegistration {
    fn from(is_registered: bool) -> Self {
        if is_registered {
            Self::Preferred
        } else {
            Self::Off
        }
    }
}

impl From<BufferRegistration> for bool {
    fn from(registration: BufferRegistration) -> Self {
        registration != BufferRegistration::Off
    }
}

/// I/O engine and queue.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RingOptions {
    pub ioengine: EngineName,
    /// Requested I/Os in flight per worker.
    pub iodepth: u32,
    /// Maximum I/Os per submission; null if the engine decides.
    pub iodepth_batch_submit: Option<u32>,
    /// Minimum number of completions to wait for; null if the engine decides.
    pub iodepth_batch_complete_min: Option<u32>,
    #[serde(default)]
    #[schema(value_type = bool)]
    pub fixedbufs: BufferRegistration,
    #[serde(default)]
    pub hipri: bool,
    #[serde(default)]
    pub sqthread_poll: bool,
    /// Time to poll for completions before sleeping, in µs.
    #[serde(default)]
    pub spin_us: u64,
    #[serde(default)]
    pub mem: BufferPages,
}

impl ResolvedJob {
    pub fn has_rate(&self) -> bool {
        let rates = [&self.timing.rate, &self.timing.rate_iops];
        rates
            .iter()
            .any(|rate| rate.read.or(rate.write).or(rate.trim).is_some())
    }

    /// Whether the job performs I/O in the measured window.
    pub fn is_measured(&self) -> bool {
        !self.target.create_only && self.data.verify.is_none_or(|verify| !verify.only)
    }

    /// Effective number of I/Os in flight per worker: 1 for synchronous engines, and for trims with
    /// an asynchronous engine, which are separate system calls.
    pub fn in_flight(&self) -> u32 {
        let engine = self.ring.ioengine;
        let is_serial =
            engine.is_synchronous() || (engine.is_asynchronous() && self.pattern.rw.trims());
        if is_serial { 1 } else { self.ring.iodepth }
    }

    /// Whether a block may be written twice before the whole region is written.
    pub fn may_write_twice(&self) -> bool {
        let pattern = &self.pattern;
        let sizes = &pattern.bs.write;
        let has_no_map = pattern.rw.is_random()
            && (pattern.norandommap || pattern.random_distribution.write != Distribution::Random);
        let is_shared =
            self.numjobs > 1 && self.targets.iter().any(|target| target.worker.is_none());
        has_no_map || is_shared || sizes.min != sizes.max
    }

    /// How the job reads blocks back while it writes; `None` if it does not.
    pub fn verify_backlog(&self) -> Option<VerifyBacklog> {
        self.data.verify?.backlog
    }

    /// Whether the job reads in the measured window.
    pub fn reads(&self) -> bool {
        self.pattern.rw.reads() || self.verify_backlog().is_some()
    }

    /// Buffers per worker: one per I/O in flight. Jobs that also read use separate write buffers,
    /// so that they do not write back the data that they have read.
    pub fn buffers(&self) -> u64 {
        u64::from(self.in_flight()) * if self.has_write_buffers() { 2 } else { 1 }
    }

    /// Whether writes use separate buffers.
    pub fn has_write_buffers(&self) -> bool {
        let rw = self.pattern.rw;
        self.reads() && rw.writes() && !self.ring.ioengine.is_null()
    }

    /// Buffer size per I/O in flight, in bytes: the largest read or write, or 1 if no data is
    /// transferred.
    pub fn largest_buffer(&self) -> u64 {
        if self.ring.ioengine.is_null() {
            return 1;
        }
        let rw = self.pattern.rw;
        let read = rw.reads().then_some(self.pattern.bs.read.max);
        let write = rw.writes().then_some(self.pattern.bs.write.max);
        let sequential = self.pattern.sequential_bs.as_ref().map(|bs| bs.max);
        read.max(write).max(sequential).unwrap_or(1)
    }

    /// Returns a worker's targets with their indices in `targets`. The pattern numbers targets in
    /// this order.
    pub fn targets_of(&self, worker: u32) -> impl Iterator<Item = (usize, &Target)> {
        self.targets
            .iter()
            .enumerate()
            .filter(move |(_, target)| target.worker.is_none_or(|owner| owner == worker))
    }

    /// Rates of reads and writes in a mix if both are limited; they determine the mix.
    pub fn mix_rates(&self) -> Option<[MixRate; 2]> {
        let has_both = self
            .pattern
            .rwmixread
            .is_some_and(|reads| (1..100).contains(&reads));
        let rate = |ios, bytes| MixRate { ios, bytes };
        let rates = [
            rate(self.timing.rate_iops.read, self.timing.rate.read),
            rate(self.timing.rate_iops.write, self.timing.rate.write),
        ];
        let is_limited = |rate: &MixRate| rate.ios.or(rate.bytes).is_some();
        (has_both && rates.iter().all(is_limited)).then_some(rates)
    }

    /// Bytes that the worker transfers, across all loops. A worker whose region is cut off at the
    /// end of the target transfers fewer bytes, unless `io_size` was requested.
    pub fn io_size_of(&self, worker: u32) -> u64 {
        if self.timing.is_io_size_requested {
            return self.timing.io_size;
        }
        let region: u64 = self.targets_of(worker).map(|(_, target)| target.size).sum();
        region.saturating_mul(self.timing.loops)
    }
}

/// Rate of one direction in a mix.
#[derive(Clone, Copy, Debug)]
pub struct MixRate {
    /// I/Os per second.
    pub ios: Option<u64>,
    /// Bytes per second.
    pub bytes: Option<u64>,
}
