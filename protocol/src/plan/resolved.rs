//! A job with everything settled: what the engine, the pattern and the report go by.

use crate::job::value::{
    BufferPages, CacheState, Distribution, EngineName, Fadvise, Fallocate, FileState, PerDirection,
    RateProcess, RwKind, SplitEntry, SyncMode,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The plain name of a job's path to the device.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A file through the page cache.
    Buffered,
    /// A file past the page cache (`O_DIRECT`).
    Direct,
    /// A block device; `direct` says whether past its page cache.
    Raw,
    /// Nothing at all (`ioengine=null`).
    Null,
}

/// What one target is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A regular file.
    File,
    /// A block device.
    Device,
    /// A file, through a loop device that the run makes for itself and takes away in the end.
    Loop,
    /// Nothing (`ioengine=null`).
    Null,
}

/// One file or device that a job does I/O on.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Target {
    /// Absolute path.
    pub path: String,
    /// What it is.
    pub kind: TargetKind,
    /// Length in bytes that it will have when the measurement begins.
    pub length: u64,
    /// Whether it was there before; what was found is never removed.
    pub existed: bool,
    /// Bytes that laying it out writes, the last ones of `length`; 0 when it is used as it is. Where several parts of a
    /// file are targets, they stand with the first.
    pub layout_bytes: u64,
    /// Filesystem type, such as `ext4`; null for a device.
    pub filesystem: Option<String>,
    /// Kernel name of the block device under it, such as `vda`; null where there is none. For a loop device of the run's own
    /// that of the file's device until it is attached, then its own.
    pub device: Option<String>,
    /// What that device is by its own word, such as its serial number, when it is the target itself; null for a file.
    #[serde(default)]
    pub identity: Option<String>,
    /// Alignment of offsets, lengths and memory that direct I/O needs here, in bytes; 1 for buffered I/O.
    pub alignment: u32,
    /// Where the region begins in it, in bytes; the offset of the clone included.
    pub offset: u64,
    /// Bytes of the region; no I/O leaves it.
    pub size: u64,
    /// Clones that use it: the number of one clone, or null when all share it.
    pub worker: Option<u32>,
}

impl Target {
    /// What a device that is the target itself is known as when its name is another's: its identity, else its kernel name.
    pub fn known_as(&self) -> Option<&str> {
        let device = self
            .device
            .as_deref()
            .filter(|_| self.kind == TargetKind::Device)?;
        Some(self.identity.as_deref().unwrap_or(device))
    }
}

/// What a job's I/Os look like in size.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct BlockSizes {
    /// Smallest I/O in bytes; all others are multiples of it.
    pub min: u64,
    /// Largest I/O in bytes.
    pub max: u64,
    /// Sizes with their shares; empty when all are alike or any multiple of `min` up to `max` may come.
    pub split: Vec<SplitEntry>,
}

/// How the job opens, prepares and caches its targets.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TargetOptions {
    /// Bytes that one clone works on, over its targets.
    pub size: u64,
    /// Where the region begins in each target.
    pub offset: u64,
    /// Added to the offset per clone.
    pub offset_increment: u64,
    /// Drop the target's clean pages first.
    pub invalidate: bool,
    /// Read the region into the page cache first.
    pub pre_read: bool,
    /// What the kernel is told about the pattern; never `by pattern` here.
    pub fadvise_hint: Fadvise,
    /// Drop all caches of the host first.
    pub drop_caches: bool,
    /// What every write waits for.
    pub sync: SyncMode,
    /// fsync at the end, as a phase of its own.
    pub end_fsync: bool,
    /// How a file gets its blocks.
    pub fallocate: Fallocate,
    /// Write the whole file before.
    pub overwrite: bool,
    /// Begin at the end of the file.
    pub file_append: bool,
    /// Create the file at open, without laying it out.
    pub create_on_open: bool,
    /// Remove what this run made.
    pub unlink: bool,
    /// The state of the files to begin with, as asked; the options above say what it amounts to.
    #[serde(default)]
    #[schema(required = true)]
    pub file_state: FileState,
    /// The state of the page cache to begin with, as asked; likewise.
    #[serde(default)]
    #[schema(required = true)]
    pub cache_state: CacheState,
}

/// Offsets, sizes and directions of the I/Os.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PatternOptions {
    /// Pattern.
    pub rw: RwKind,
    /// The figure behind the colon of `rw`; null when there was none.
    pub rw_modifier: Option<i64>,
    /// Share of reads in a mix in percent; null when the pattern is no mix.
    pub rwmixread: Option<u8>,
    /// Sizes of I/Os.
    pub bs: PerDirection<BlockSizes>,
    /// Random offsets are multiples of this many bytes.
    pub blockalign: PerDirection<u64>,
    /// Which blocks are liked.
    pub random_distribution: PerDirection<Distribution>,
    /// Share of random I/Os in percent.
    pub percentage_random: PerDirection<u8>,
    /// Whether offsets may repeat before every block had its turn.
    pub norandommap: bool,
    /// Seed of clone 0.
    pub randseed: u64,
    /// fsync after every N writes; 0 never.
    pub fsync: u32,
    /// fdatasync after every N writes; 0 never.
    pub fdatasync: u32,
}

/// When the job starts, ends and pauses, and at what rate it issues I/Os.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TimingOptions {
    /// The longest measurement; null when size ends it.
    pub runtime_ms: Option<u64>,
    /// Start over until the time is over.
    pub time_based: bool,
    /// Work before the measurement.
    pub ramp_ms: u64,
    /// Pause before the job.
    pub startdelay_ms: u64,
    /// How often the region is worked through.
    pub loops: u64,
    /// The most I/Os of each clone; null when not bounded.
    pub number_ios: Option<u64>,
    /// Bytes that one clone moves before it ends (loops included).
    pub io_size: u64,
    /// The most bytes a second and clone; null when not bounded.
    pub rate: PerDirection<Option<u64>>,
    /// The most I/Os a second and clone; null when not bounded.
    pub rate_iops: PerDirection<Option<u64>>,
    /// When the I/Os of a rate are due.
    pub rate_process: RateProcess,
    /// Pause in µs after `thinktime_blocks` I/Os.
    pub thinktime_us: u64,
    /// I/Os between two pauses.
    pub thinktime_blocks: u32,
}

/// The engine and its queue.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RingOptions {
    /// The engine that will do it.
    pub ioengine: EngineName,
    /// I/Os that each clone was asked to keep in flight.
    pub iodepth: u32,
    /// I/Os handed to the kernel at once; null lets the engine choose.
    pub iodepth_batch_submit: Option<u32>,
    /// I/Os to wait for before new ones; null lets the engine choose.
    pub iodepth_batch_complete_min: Option<u32>,
    /// Whether the I/O buffers are registered with the ring.
    #[serde(default)]
    pub fixedbufs: bool,
    /// Whether the job says so itself: then the run fails where the kernel refuses it. No word on the wire.
    #[serde(skip)]
    pub fixedbufs_said: bool,
    /// Whether the device is polled for completions.
    #[serde(default)]
    pub hipri: bool,
    /// Whether a thread of the kernel takes the submissions.
    #[serde(default)]
    pub sqthread_poll: bool,
    /// Looking for completions before going to sleep, in µs.
    #[serde(default)]
    pub spin_us: u64,
    /// Pages of the I/O buffers.
    #[serde(default)]
    pub mem: BufferPages,
}

/// Contents of written blocks.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DataOptions {
    /// Write zeros.
    pub zero_buffers: bool,
    /// Fresh data for every write.
    pub refill_buffers: bool,
    /// Share of written data that compresses away in percent.
    pub buffer_compress_percentage: u8,
    /// Share of written blocks that repeat an earlier one in percent.
    pub dedupe_percentage: u8,
}

/// A job with everything settled. Sizes are bytes, times are milliseconds (thinktime µs).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ResolvedJob {
    /// Name.
    pub name: String,
    /// The plain name of the path to the device.
    pub mode: Mode,
    /// What it does I/O on.
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
    /// Clones.
    pub numjobs: u32,
    /// Past the page cache.
    pub direct: bool,
    /// Processors that the clones may run on; empty when any.
    pub cpus_allowed: Vec<u32>,
    /// Priority.
    pub nice: i32,
    /// Whether the kernel's counters are read beside the run.
    #[serde(default = "yes")]
    #[schema(required = true)]
    pub probes: bool,
    /// Whether the sizes of requests at the device are counted.
    #[serde(default)]
    #[schema(required = true)]
    pub request_sizes: bool,
    /// Whether stacks of the runner are taken.
    #[serde(default)]
    #[schema(required = true)]
    pub profile: bool,
}

/// Runs from before the option was there read the counters.
fn yes() -> bool {
    true
}

impl ResolvedJob {
    /// Whether any direction has a rate to keep.
    pub fn has_rate(&self) -> bool {
        let rates = [&self.timing.rate, &self.timing.rate_iops];
        rates
            .iter()
            .any(|rate| rate.read.or(rate.write).or(rate.trim).is_some())
    }

    /// I/Os that each clone really has in flight. psync does one at a time, and so does a ring with trims, each of which is a system
    /// call of its own.
    pub fn in_flight(&self) -> u32 {
        let one_at_a_time = self.ring.ioengine == EngineName::Psync
            || (self.ring.ioengine.has_ring() && self.pattern.rw.trims());
        if one_at_a_time { 1 } else { self.ring.iodepth }
    }

    /// Bytes of the buffer that each I/O in flight has: the largest I/O that moves data, in a direction that the job goes. 1
    /// where nothing is moved.
    pub fn largest_buffer(&self) -> u64 {
        let directions = [
            (self.pattern.rw.reads(), self.pattern.bs.read.max),
            (self.pattern.rw.writes(), self.pattern.bs.write.max),
        ];
        let moving = directions
            .into_iter()
            .filter(|(used, _)| *used && !self.ring.ioengine.is_null());
        moving.map(|(_, max)| max).max().unwrap_or(1)
    }

    /// The targets of one clone with their places in `targets`; the order is that of [`leadline_runner::load::pattern::Io::target`].
    pub fn targets_of(&self, clone: u32) -> impl Iterator<Item = (usize, &Target)> {
        self.targets
            .iter()
            .enumerate()
            .filter(move |(_, target)| target.worker.is_none_or(|only| only == clone))
    }

    /// Bytes that this clone moves before it ends, over all loops. A clone whose region is shorter than that of the
    /// first one (`offset_increment` towards the end of the target) moves less, unless `io_size` was asked for.
    pub fn io_size_of(&self, clone: u32) -> u64 {
        let region: u64 = self.targets_of(clone).map(|(_, target)| target.size).sum();
        if self.timing.io_size == self.target.size.saturating_mul(self.timing.loops) {
            region.saturating_mul(self.timing.loops)
        } else {
            self.timing.io_size
        }
    }
}
