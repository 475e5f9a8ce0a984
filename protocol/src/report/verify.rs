//! Result of reading back written blocks (`verify`).

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of bad blocks in [`VerifyReport::failures`].
pub const MAX_FAILURES: usize = 100;

/// Result of the verification of a job.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct VerifyReport {
    /// Blocks that were read back.
    pub checked_blocks: u64,
    pub checked_bytes: u64,
    /// Bytes that were still in the page cache when they were read back, so that the device was
    /// not read; null with direct I/O and if it could not be measured.
    pub cached_bytes: Option<u64>,
    /// Blocks whose contents are unknown, because a write had not completed when the run ended.
    pub skipped_blocks: u64,
    pub duration_ms: f64,
    /// Checked blocks that do not hold the data of their last write.
    pub bad_blocks: u64,
    /// The bad blocks with the lowest offsets; limited to the first 100.
    pub failures: Vec<BadBlock>,
    /// Why the blocks were not read back, or not all of them.
    pub not_run: Option<String>,
}

/// A block that does not hold the data of its last write.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct BadBlock {
    /// File or device.
    pub path: String,
    /// Of the block in the file or device, in bytes.
    pub offset: u64,
    pub bytes: u64,
    pub kind: Damage,
    /// Details in a sentence.
    pub detail: String,
    /// Misplaced data: the offset that it was written to.
    pub found_offset: Option<u64>,
    /// First sector that is known to be bad, as an offset in the file or device.
    pub bad_offset: Option<u64>,
    /// errno(3) of a failed read.
    pub errno: Option<i32>,
}

named_enum! {
    names: "snake_case";
    /// What is wrong with a block.
    pub enum Damage {
        /// Bytes changed.
        Flipped,
        /// All bytes are zero.
        Zeroed,
        /// Data of an older write of the block.
        Stale,
        /// Data of another block.
        Misplaced,
        /// Some sectors hold the data of another write.
        Torn,
        /// Neither zero nor written by a job with `verify`.
        Unwritten,
        /// The block could not be read.
        Unreadable,
    }
}
