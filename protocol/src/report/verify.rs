//! Result of reading back written blocks (`verify`).

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of bad blocks in [`VerifyReport::failures`].
pub const MAX_FAILURES: usize = 100;

/// Verification result of a job.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct VerifyReport {
    /// Number of blocks that were read back.
    pub checked_blocks: u64,
    pub checked_bytes: u64,
    /// Bytes that were read back from the page cache instead of the device; null with direct I/O,
    /// and if they could not be counted.
    pub cached_bytes: Option<u64>,
    /// Blocks with unknown contents, because a write had not completed when the run ended.
    pub skipped_blocks: u64,
    pub duration_ms: f64,
    /// Checked blocks whose data does not match their last write.
    pub bad_blocks: u64,
    /// At most 100 of the bad blocks: those that `verify_backlog` found, then those with the lowest
    /// offsets.
    pub failures: Vec<BadBlock>,
    /// Why some or all blocks were not read back.
    pub not_run: Option<String>,
}

/// A block whose data does not match its last write.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct BadBlock {
    /// File or device.
    pub path: String,
    /// Offset of the block in the file or device, in bytes.
    pub offset: u64,
    pub bytes: u64,
    pub kind: Damage,
    /// Details, as a sentence.
    pub detail: String,
    /// For misplaced data, the offset that it was written to.
    pub found_offset: Option<u64>,
    /// First sector known to be bad, as an offset in the file or device.
    pub bad_offset: Option<u64>,
    /// errno(3) of a failed read.
    pub errno: Option<i32>,
}

named_enum! {
    names: "snake_case";
    /// How a block is damaged.
    pub enum Damage {
        /// Some bytes differ.
        Flipped,
        /// All bytes are zero.
        Zeroed,
        /// Data from an older write to the block.
        Stale,
        /// Data that was written to a different block.
        Misplaced,
        /// Some sectors do not contain the data of the same write.
        Torn,
        /// Neither zero nor written by a job with `verify`.
        Unwritten,
        /// The block could not be read.
        Unreadable,
    }
}
