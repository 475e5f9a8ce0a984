//! Structs that hold the state of the measuring loop.

use crate::load::{pattern::io::Io, source::DRAW};

/// I/Os that were drawn from the source; `next..end` are not yet submitted.
pub(crate) struct DrawnIos {
    pub ios: [Io; DRAW],
    pub next: usize,
    pub end: usize,
}

/// Limits on the number of I/Os.
pub(crate) struct Limits {
    /// I/Os per submission.
    pub batch: usize,
    /// I/Os per submission while completions are asynchronous.
    pub asynchronous_batch: usize,
    pub complete_min: usize,
}

/// Times in ns (`Clock` time).
pub(crate) struct Time {
    pub begin_ns: u64,
    pub now_ns: u64,
    /// Start of the last batch.
    pub submitted_ns: u64,
}
