//! Contents of the blocks that a resolved job writes or verifies.

use crate::job::{
    buffer_pattern::BufferPattern, verify_method::VerifyMethod, verify_pattern::VerifyPattern,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Contents of written blocks.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DataOptions {
    pub zero_buffers: bool,
    /// Whether every 512 bytes of a write are stamped; null for runs recorded before the option was
    /// introduced, which did not stamp.
    #[serde(default)]
    pub scramble_buffers: Option<bool>,
    pub refill_buffers: bool,
    /// Compressible percentage of the data.
    pub buffer_compress_percentage: u8,
    /// Percentage of duplicate blocks.
    pub dedupe_percentage: u8,
    /// Source of duplicate blocks; null if it is any earlier block.
    #[serde(default)]
    pub dedupe_working_set: Option<DedupeWorkingSet>,
    /// `randseed` and number of workers of each job with a global working set. Not serialized.
    #[serde(skip)]
    pub dedupe_jobs: Vec<(u64, u32)>,
    /// Null for random data or zeros.
    #[serde(default)]
    pub buffer_pattern: Option<BufferPattern>,
    /// Null if `verify` is not set, and for runs recorded before the option was introduced.
    #[serde(default)]
    pub verify: Option<VerifyOptions>,
    /// Contents of the verified blocks; null for other data.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub verify_pattern: Option<VerifyPattern>,
}

/// The first unique blocks, which are the source of all duplicates.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct DedupeWorkingSet {
    /// Number of blocks, at least 1.
    pub blocks: u64,
    /// Whether the working set is divided among all workers of the run.
    pub is_global: bool,
}

/// Checksums of the written blocks.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct VerifyOptions {
    pub method: VerifyMethod,
    /// Bytes per header and checksum.
    pub interval: u64,
    /// Whether the blocks are read back after the measurement.
    pub reads_back: bool,
    /// Whether the job only checks blocks from an earlier run and writes nothing.
    pub only: bool,
    /// Whether verification stops at the first bad block.
    pub fatal: bool,
    /// Offset of the header in its block, in bytes; absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(default = 0)]
    pub header_offset: u64,
    /// How blocks are read back while the job writes; absent if `verify_backlog` is not
    /// set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub backlog: Option<VerifyBacklog>,
}

/// Verification between writes (`verify_backlog`).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct VerifyBacklog {
    /// Number of writes after which some are read back.
    pub writes: u32,
    /// Number of writes that are read back at a time.
    pub batch: u32,
}

impl VerifyOptions {
    /// Whether the expected data depends on which worker wrote a block last, so that workers cannot
    /// write to the same region. With a pattern alone, all workers write the same data.
    pub fn needs_own_region(&self) -> bool {
        !self.only && self.method != VerifyMethod::Pattern
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
