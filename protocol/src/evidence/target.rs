//! State, page cache residency and extents of a target.

use crate::{counters::Residency, plan::target::TargetKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A file or device. The regions of all jobs and workers are merged. `absent` explains null
/// numbers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TargetReport {
    /// Absolute path.
    pub path: String,
    pub kind: TargetKind,
    /// Names of the jobs that use the target.
    pub jobs: Vec<String>,
    /// Filesystem type, such as `ext4`; null for a device.
    pub filesystem: Option<String>,
    /// Null for a device, or if the mount is not visible.
    pub mount_point: Option<String>,
    /// Mount and filesystem options (proc_pid_mountinfo(5)); null if `mount_point` is null.
    pub mount_options: Option<String>,
    /// Kernel name of the underlying block device; null if there is none.
    pub device: Option<String>,
    /// Start offset of the first region, in bytes.
    pub region_offset: u64,
    /// Total size of all regions.
    pub region_bytes: u64,
    pub state: TargetState,
    pub residency: ResidencyReport,
    pub extents: ExtentsReport,
    pub map: CacheMap,
    pub direct: DirectFacts,
    /// Backing file of a loop device that uses this host's page cache; null otherwise.
    #[serde(default)]
    pub backing: Option<BackingFile>,
    /// Reasons for missing numbers.
    pub absent: BTreeMap<String, String>,
}

/// Actual initial state. The requested `file_state` and `cache_state` are in the jobs.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TargetState {
    /// Whether the target existed before the run; always true for a device.
    pub existed: bool,
    /// Share of the region that contained written data at the start of the measurement (0-1); null
    /// if the filesystem does not report it.
    pub written_share: Option<f64>,
    /// Share of the region that was in the page cache at the start of the measurement (0-1); null
    /// if unknown.
    pub cached_share: Option<f64>,
}

/// If at least this share of the blocks is written, the cost of allocating the rest is negligible.
const WRITTEN: f64 = 0.98;

impl TargetState {
    /// Whether writes only overwrite written blocks; `None` if the filesystem does not report
    /// extents.
    pub fn is_written(&self) -> Option<bool> {
        self.written_share.map(|share| share >= WRITTEN)
    }
}

/// Page cache residency of the region.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ResidencyReport {
    /// Before layout, invalidation and pre-reading.
    pub initial: Option<Residency>,
    /// At the start of the measured window.
    pub start: Option<Residency>,
    /// At the end of the measured window, before the flush.
    pub end: Option<Residency>,
}

/// Extents of the region.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ExtentsReport {
    /// After layout, before the measurement.
    pub before: Option<Extents>,
    /// After the measurement, before the flush. Data not yet written back is still `delayed` or
    /// `unwritten`.
    pub after: Option<Extents>,
}

/// Bytes by extent type (FS_IOC_FIEMAP, Documentation/filesystems/fiemap.rst). All types except
/// `shared` add up to the region.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Extents {
    /// Number of extents, not counting holes.
    pub count: u64,
    /// Regular data on the device.
    pub written: u64,
    /// Allocated but not written: reads return zeros (FIEMAP_EXTENT_UNWRITTEN).
    pub unwritten: u64,
    /// Not allocated: reads return zeros.
    pub hole: u64,
    /// In memory and not allocated yet (FIEMAP_EXTENT_DELALLOC).
    pub delayed: u64,
    /// Inside metadata (FIEMAP_EXTENT_DATA_INLINE).
    pub inline: u64,
    /// Compressed or encrypted (FIEMAP_EXTENT_ENCODED).
    pub encoded: u64,
    /// Shared with another file or a snapshot; copied on write (FIEMAP_EXTENT_SHARED).
    pub shared: u64,
}

/// Distribution of cached pages. The region is divided into cells of equal size. Multiple regions
/// are concatenated.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CacheMap {
    /// Cell size in bytes, a multiple of the page size. The last cell may be smaller.
    pub cell_bytes: u64,
    /// Cached percentage of each cell at the start of the measured window.
    pub start: Option<Vec<u8>>,
    /// Cached percentage of each cell at the end of the measured window.
    pub end: Option<Vec<u8>>,
}

/// Whether direct I/O bypasses all caches on the host.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DirectFacts {
    /// Memory alignment for direct I/O in bytes (statx(2), STATX_DIOALIGN); null if direct I/O is
    /// not supported or unknown.
    pub memory_align: Option<u32>,
    /// Offset and length alignment for direct I/O in bytes; null if `memory_align` is null.
    pub offset_align: Option<u32>,
    /// Whether the loop device opens its backing file with direct I/O (`loop/dio`); null if there
    /// is no loop device.
    pub loop_direct_io: Option<bool>,
    /// Type of a lower device-mapper target that serves reads of unwritten blocks without accessing
    /// its disks, such as `thin`; null if there is none, or if the tables cannot be read (requires
    /// root).
    #[serde(default)]
    pub sparse_mapping: Option<String>,
    /// Whether the file uses DAX, which bypasses the page cache and block layer (STATX_ATTR_DAX).
    pub dax: Option<bool>,
    /// Whether direct reads bypass every page cache on this host; null if unknown.
    pub reads_past_cache: Option<bool>,
    /// Whether direct writes bypass every page cache on this host; null if unknown.
    pub writes_past_cache: Option<bool>,
    /// Why direct I/O does not bypass every cache, or why this is unknown.
    pub reasons: Vec<String>,
}

/// Backing file of a loop device without direct I/O. The device counters only cover I/O down to the
/// loop device; the residency of the backing file shows whether the disk was used.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct BackingFile {
    /// Path as reported by the kernel.
    pub path: String,
    /// Allocated bytes, excluding holes (stat(2), `st_blocks`).
    pub allocated_bytes: u64,
    /// Residency at the start of the measured window; null if unknown.
    pub start: Option<Residency>,
    /// Residency at the end of the measured window; null if unknown.
    pub end: Option<Residency>,
}
