//! The measurement window.

use leadline_protocol::study::snia::results::RoundRange;
use std::ops::Range;

/// Number of rounds in the measurement window.
pub(crate) const WINDOW: usize = leadline_stats::steady_state::WINDOW;

/// Five consecutive rounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Window {
    /// One-based.
    pub last: u32,
}

impl Window {
    /// `count`: number of rounds up to the end of the window, at least five.
    pub(crate) fn ending_at(count: usize) -> Self {
        Self { last: count as u32 }
    }

    /// One-based.
    pub(crate) fn first(self) -> u32 {
        self.last + 1 - WINDOW as u32
    }

    pub(crate) fn indices(self) -> Range<usize> {
        self.first() as usize - 1..self.last as usize
    }

    pub(crate) fn range(self) -> RoundRange {
        RoundRange {
            first: self.first(),
            last: self.last,
        }
    }
}
