//! Words of a report that prove where the I/O went: what each target was, what of it lay in the page cache and on the
//! device before and after, and what the host's writeback did meanwhile. A number that could not be had is null, with
//! its reason in the nearest `absent`. `docs/measurement.md` defines every number.

use crate::counters::Residency;
use crate::plan::resolved::ResolvedJob;
use crate::plan::resolved::TargetKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// One file or device that jobs worked on. Regions of several jobs or clones are taken together, overlaps once.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TargetReport {
    /// Absolute path.
    pub path: String,
    /// What it is.
    pub kind: TargetKind,
    /// Names of the jobs that use it.
    pub jobs: Vec<String>,
    /// Filesystem type, such as `ext4`; null for a device.
    pub filesystem: Option<String>,
    /// Where that filesystem is mounted; null for a device or where no mount is seen.
    pub mount_point: Option<String>,
    /// Options of the mount and of its filesystem, as the kernel lists them (proc_pid_mountinfo(5)); null likewise.
    pub mount_options: Option<String>,
    /// Kernel name of the block device under it; null where there is none.
    pub device: Option<String>,
    /// Where the regions begin, in bytes.
    pub region_offset: u64,
    /// Bytes of all regions together.
    pub region_bytes: u64,
    /// What the run found and began with.
    pub state: TargetState,
    /// Bytes of the region in the page cache.
    pub residency: ResidencyReport,
    /// Blocks of the region, by what the filesystem says of them.
    pub extents: ExtentsReport,
    /// Where in the region the pages lie that are in the page cache.
    pub map: CacheMap,
    /// Whether direct I/O can mean here what it says.
    pub direct: DirectFacts,
    /// The file behind a loop device, where that file goes through the page cache of this host; null otherwise.
    #[serde(default)]
    pub backing: Option<BackingFile>,
    /// Numbers of this target that are missing, with the reason.
    pub absent: BTreeMap<String, String>,
}

/// The state that a target was in. Beside it stand `file_state` and `cache_state` of the jobs: what was asked.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TargetState {
    /// Whether it was there before the run; always true of a device.
    pub existed: bool,
    /// Share of the region that held written data when the measurement began, from 0 to 1; null where the filesystem does not tell.
    pub written_share: Option<f64>,
    /// Share of the region that lay in the page cache when the measurement began, from 0 to 1; null where that cannot be told.
    pub cached_share: Option<f64>,
}

/// From this share of written blocks on, allocating the others costs nothing to speak of.
const WRITTEN: f64 = 0.98;

impl TargetState {
    /// Whether writes only overwrite: 98 % of the region or more held data. `None` where the filesystem does not tell.
    pub fn is_written(&self) -> Option<bool> {
        self.written_share.map(|share| share >= WRITTEN)
    }
}

/// Bytes of a region in the page cache at three moments.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ResidencyReport {
    /// Before the run did anything: before layout, invalidating and reading in.
    pub initial: Option<Residency>,
    /// When the measured window began.
    pub start: Option<Residency>,
    /// When the measured window ended, before the flush.
    pub end: Option<Residency>,
}

/// The extents of a region before and after the measurement.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ExtentsReport {
    /// After layout and before the measurement.
    pub before: Option<Extents>,
    /// After the measured window and before the flush: what was not written back yet is `delayed` or still `unwritten`.
    pub after: Option<Extents>,
}

/// Bytes of a region by what the filesystem says of its extents (FS_IOC_FIEMAP, Documentation/filesystems/fiemap.rst).
/// All but `shared` add up to the region.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Extents {
    /// Extents, holes not counted.
    pub count: u64,
    /// Data on the device, as it was written.
    pub written: u64,
    /// Allocated and never written (FIEMAP_EXTENT_UNWRITTEN): reads are answered with zeros.
    pub unwritten: u64,
    /// Not allocated: reads are answered with zeros.
    pub hole: u64,
    /// In memory only, without a place on the device yet (FIEMAP_EXTENT_DELALLOC).
    pub delayed: u64,
    /// Inside metadata, without a block of its own (FIEMAP_EXTENT_DATA_INLINE).
    pub inline: u64,
    /// On the device in another form: compressed or encrypted (FIEMAP_EXTENT_ENCODED).
    pub encoded: u64,
    /// Of all these, bytes that another file or snapshot has too: a write is made elsewhere (FIEMAP_EXTENT_SHARED).
    pub shared: u64,
}

/// The file behind a loop device that has no direct I/O of its own. The device's counters end at the loop; what lies in memory
/// of this file says whether the disk beneath was asked.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct BackingFile {
    /// Its path, as the kernel tells it.
    pub path: String,
    /// Bytes that have blocks on the disk (stat(2), `st_blocks`); holes are not counted.
    pub allocated_bytes: u64,
    /// What of it lay in the page cache when the measured window began; null where that cannot be told.
    pub start: Option<Residency>,
    /// And when it ended; null likewise.
    pub end: Option<Residency>,
}

/// Where in a region the cached pages lie. The region is cut into equal cells; several regions are put end to end.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CacheMap {
    /// Bytes of one cell, whole pages; the last cell may be shorter.
    pub cell_bytes: u64,
    /// Share of each cell in the page cache when the measured window began, in percent.
    pub start: Option<Vec<u8>>,
    /// Share of each cell in the page cache when it ended, in percent.
    pub end: Option<Vec<u8>>,
}

/// Whether direct I/O can mean what it says on a target.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DirectFacts {
    /// Alignment of memory that direct I/O needs, in bytes (statx(2), STATX_DIOALIGN); null where direct I/O is not possible or
    /// the kernel does not tell.
    pub memory_align: Option<u32>,
    /// Alignment of offsets and lengths that direct I/O needs, in bytes; null likewise.
    pub offset_align: Option<u32>,
    /// Whether the loop device under it goes past the page cache of its backing file (`loop/dio`); null where no loop is.
    pub loop_direct_io: Option<bool>,
    /// Whether the file is mapped straight from memory (STATX_ATTR_DAX): no page cache, and no block layer either.
    pub dax: Option<bool>,
    /// Whether direct reads go past every page cache of this host; null where that is not known.
    pub reads_past_cache: Option<bool>,
    /// Whether direct writes go past every page cache of this host; null where that is not known.
    pub writes_past_cache: Option<bool>,
    /// Why not, or why it is not known; one sentence each.
    pub reasons: Vec<String>,
}

/// The directions that can turn.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl Direction {
    /// `reads` or `writes`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
        }
    }

    /// Whether a job goes this way.
    pub fn is_of(self, job: &ResolvedJob) -> bool {
        match self {
            Self::Read => job.pattern.rw.reads(),
            Self::Write => job.pattern.rw.writes(),
        }
    }
}

/// What answered I/Os, as far as the samples tell.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServedBy {
    /// Storage moved at least half of the bytes meanwhile.
    Device,
    /// Storage moved at most a twentieth of the bytes meanwhile.
    Memory,
}

/// The moment at which a direction turned from the device to memory or back.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Transition {
    /// When, in milliseconds since the run began: the beginning of the first sample that was answered otherwise.
    pub t_ms: f64,
    /// What turned.
    pub direction: Direction,
    /// What answered before.
    pub from: ServedBy,
    /// What answered from then on.
    pub to: ServedBy,
}

/// What the host's writeback did in the measured window, everybody's together (`/proc/vmstat`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Writeback {
    /// Bytes read from block devices, all of the host's (`pgpgin`).
    pub paged_in_bytes: u64,
    /// Bytes written to block devices, all of the host's (`pgpgout`).
    pub paged_out_bytes: u64,
    /// Bytes of pages that became dirty (`nr_dirtied`).
    pub dirtied_bytes: u64,
    /// Bytes of pages handed to a device for writing (`nr_written`).
    pub written_bytes: u64,
    /// Milliseconds that writers of this run were made to wait by the dirty limit, summed over its threads (tracepoint
    /// writeback:balance_dirty_pages); counted with `request_sizes=1` only, else null.
    pub throttled_ms: Option<f64>,
}

/// What was still in memory when the measured window ended, and how long it took to write.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct FlushReport {
    /// Bytes of the targets' regions that were dirty or being written then (cachestat(2)); null where that cannot be told.
    pub dirty_bytes: Option<u64>,
    /// Milliseconds of the flush phase; null without `end_fsync`.
    pub duration_ms: Option<f64>,
}

/// Requests as the kernel handed them to the devices in the measured window (tracepoint block:block_rq_issue).
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Requests {
    /// Each device under the targets that takes requests.
    pub devices: Vec<DeviceRequests>,
    /// Events that were lost because the kernel wrote them faster than they were read; the shares still hold.
    pub lost_events: u64,
}

/// Requests of one device.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceRequests {
    /// Kernel name.
    pub name: String,
    /// Reads by size.
    pub read: Vec<RequestSize>,
    /// Writes by size.
    pub write: Vec<RequestSize>,
}

/// How often a size of request came.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RequestSize {
    /// Bytes of such a request.
    pub bytes: u64,
    /// How many.
    pub ios: u64,
}

/// Where the runner spent its processor time in the measured window, in user mode and in the kernel (`perf record`, event
/// cpu-clock).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Profile {
    /// Samples a second and thread that were asked for.
    pub frequency_hz: u32,
    /// Samples taken.
    pub samples: u64,
    /// Stacks, one a line, each `outer;...;inner count` (the folded form that flame graphs are drawn from).
    pub folded: String,
    /// Lines that were left out because there were too many; the rarest.
    pub omitted_stacks: u64,
}
