//! From numbers to one word. All thresholds stand here, each with its reason; `docs/measurement.md` shows the same table.
//!
//! Bytes decide how much went to the device: the kernel merges and splits I/Os as it likes, but bytes stay bytes. The
//! number of I/Os only tells readahead from plain reading.

use super::evidence::{Direction, Evidence};
use crate::report::VerdictClass;

/// Fewer I/Os than this cannot be told from the filesystem's own.
const FEWEST_IOS: u64 = 8;
/// Below this part of the issued bytes the device has answered nothing: what is left is metadata and neighbours.
const NOTHING: f64 = 0.02;
/// From this part on the device has answered all: the rest is I/O in flight at the borders of the window and blocks
/// that happened to be in memory.
const ALL: f64 = 0.9;
/// Above this the device did more than was asked. A fifth covers the metadata of ordinary files; journals, copies on
/// write and read-modify-write cost more.
pub(super) const MORE: f64 = 1.2;
/// When all bytes came in at most half as many I/Os as were issued, they were read ahead of the job.
const FEW_LARGE: f64 = 0.5;
/// Below this part of the written bytes, most were still in memory at the end.
const MOSTLY_DEFERRED: f64 = 0.5;

/// The class that the numbers show.
pub(super) fn classify(evidence: &Evidence) -> VerdictClass {
    if evidence.deviceless.is_some() {
        return VerdictClass::NoDevice;
    }
    if evidence.device.is_err() || evidence.ios < FEWEST_IOS {
        return VerdictClass::Unknown;
    }
    match (evidence.bytes_ratio(), evidence.direct, evidence.direction) {
        (ratio, ..) if ratio > MORE => VerdictClass::Amplified,
        (ratio, true, _) if ratio < NOTHING => VerdictClass::NoDevice,
        (ratio, false, Direction::Read) if ratio < NOTHING => VerdictClass::PageCache,
        (ratio, false, Direction::Write) if ratio < MOSTLY_DEFERRED => VerdictClass::DeferredWrite,
        (ratio, ..) if ratio < ALL => VerdictClass::Mixed,
        (_, false, Direction::Read) if evidence.ios_ratio() <= FEW_LARGE => VerdictClass::Readahead,
        _ => VerdictClass::Device,
    }
}
