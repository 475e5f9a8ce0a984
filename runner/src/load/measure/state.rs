//! Parts of the state of the loop.

use crate::load::{pattern::io::Io, source::DRAW};

/// I/Os drawn from the source and not submitted: `next..end`.
pub(crate) struct Drawn {
    pub ios: [Io; DRAW],
    pub next: usize,
    pub end: usize,
}

/// Limits in I/Os.
pub(crate) struct Limits {
    /// Per submission.
    pub batch: usize,
    /// Per submission while completions are asynchronous.
    pub asynchronous_batch: usize,
    pub complete_min: usize,
}

/// Times in ns of the loop's clock.
pub(crate) struct Time {
    pub begin_ns: u64,
    pub now_ns: u64,
    /// Start of the last batch.
    pub submitted_ns: u64,
}
