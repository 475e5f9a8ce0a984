//! How many bytes the next I/O of a direction has: one size, any multiple of the smallest, or sizes with shares.

use crate::load::pattern::deck::Deck;
use leadline_protocol::plan::resolved::BlockSizes;
use rand::{Rng, RngExt};

/// The sizes of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// Smallest in bytes; all others are multiples of it.
    pub min: u64,
    /// Largest in bytes.
    pub max: u64,
    choice: SizeChoice,
}

#[derive(Clone, Debug)]
enum SizeChoice {
    One,
    /// Any multiple up to so many times the smallest.
    Multiple(u64),
    Shares(Deck, Vec<u64>),
}

impl Sizes {
    /// The sizes as the plan has them.
    pub fn new(bs: &BlockSizes) -> Self {
        let choice = if bs.min == bs.max {
            SizeChoice::One
        } else if bs.split.is_empty() {
            SizeChoice::Multiple(bs.max / bs.min)
        } else {
            SizeChoice::Shares(
                Deck::new(bs.split.iter().map(|entry| entry.percent)),
                bs.split.iter().map(|entry| entry.bytes).collect(),
            )
        };
        Self {
            min: bs.min,
            max: bs.max,
            choice,
        }
    }

    /// The next size in bytes.
    #[inline]
    pub fn next(&mut self, rng: &mut impl Rng) -> u64 {
        match &mut self.choice {
            SizeChoice::One => self.min,
            SizeChoice::Multiple(times) => self.min * rng.random_range(1..=*times),
            SizeChoice::Shares(deck, sizes) => sizes[deck.deal(rng)],
        }
    }

    /// The largest size that fits into `room` bytes; `None` when none does.
    #[inline]
    pub fn fit(&self, wanted: u64, room: u64) -> Option<u64> {
        if wanted <= room {
            Some(wanted)
        } else if room < self.min {
            None
        } else {
            Some(room - room % self.min)
        }
    }
}
