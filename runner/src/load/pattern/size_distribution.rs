//! I/O sizes of one direction: a single size, any multiple of the smallest size, or sizes with
//! shares.

use crate::load::pattern::shuffle_bag::ShuffleBag;
use leadline_protocol::plan::job::BlockSizes;
use rand::{Rng, RngExt};

#[derive(Clone, Debug)]
pub(crate) struct SizeDistribution {
    /// Smallest size in bytes; all other sizes are multiples of it.
    pub min: u64,
    /// Largest size in bytes.
    pub max: u64,
    choice: Choice,
}

#[derive(Clone, Debug)]
enum Choice {
    Fixed,
    /// Any multiple of the smallest size, up to this factor.
    Multiple(u64),
    Shares(ShuffleBag, Vec<u64>),
}

impl SizeDistribution {
    pub(crate) fn new(bs: &BlockSizes) -> Self {
        let choice = if bs.min == bs.max {
            Choice::Fixed
        } else if bs.split.is_empty() {
            Choice::Multiple(bs.max / bs.min)
        } else {
            Choice::Shares(
                ShuffleBag::new(bs.split.iter().map(|entry| entry.percent)),
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
    pub(crate) fn next(&mut self, rng: &mut impl Rng) -> u64 {
        match &mut self.choice {
            Choice::Fixed => self.min,
            Choice::Multiple(max) => self.min * rng.random_range(1..=*max),
            Choice::Shares(bag, sizes) => sizes[bag.draw(rng)],
        }
    }

    /// The largest size up to `size` that fits into `space` bytes.
    #[inline]
    pub(crate) fn fit(&self, size: u64, space: u64) -> Option<u64> {
        if size <= space {
            Some(size)
        } else if space < self.min {
            None
        } else {
            Some(space - space % self.min)
        }
    }
}
