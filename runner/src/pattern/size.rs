//! How many bytes the next I/O of a direction has: one size, any multiple of the smallest, or sizes with shares.

use rand::{Rng, RngExt};

use super::deck::Deck;
use crate::plan::BlockSizes;

/// The sizes of one direction.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// Smallest in bytes; all others are multiples of it.
    pub min: u64,
    /// Largest in bytes.
    pub max: u64,
    choice: Choice,
}

#[derive(Clone, Debug)]
enum Choice {
    One,
    /// Any multiple up to so many times the smallest.
    Multiple(u64),
    Shares(Deck, Vec<u64>),
}

impl Sizes {
    /// The sizes as the plan has them.
    pub fn new(bs: &BlockSizes) -> Self {
        let choice = if bs.min == bs.max {
            Choice::One
        } else if bs.split.is_empty() {
            Choice::Multiple(bs.max / bs.min)
        } else {
            Choice::Shares(
                Deck::new(bs.split.iter().map(|entry| entry.percent)),
                bs.split.iter().map(|entry| entry.bytes).collect(),
            )
        };
        Self { min: bs.min, max: bs.max, choice }
    }

    /// The next size in bytes.
    #[inline]
    pub fn next(&mut self, rng: &mut impl Rng) -> u64 {
        match &mut self.choice {
            Choice::One => self.min,
            Choice::Multiple(times) => self.min * rng.random_range(1..=*times),
            Choice::Shares(deck, sizes) => sizes[deck.deal(rng)],
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
