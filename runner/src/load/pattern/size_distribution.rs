//! I/O sizes of one direction: a single size, any multiple of the smallest size, any size in a
//! range, or a list of sizes with their shares.

use crate::load::pattern::shuffle_bag::ShuffleBag;
use leadline_protocol::plan::job::BlockSizes;
use rand::{Rng, RngExt};

#[derive(Clone, Debug)]
pub(crate) struct SizeDistribution {
    /// Smallest size in bytes.
    pub min: u64,
    /// Largest size in bytes.
    pub max: u64,
    /// All sizes are multiples of this unit, in bytes.
    unit: u64,
    choice: Choice,
}

#[derive(Clone, Debug)]
enum Choice {
    Fixed,
    /// Any multiple of the unit, from the first to the second factor.
    Multiple(u64, u64),
    Shares(ShuffleBag, Vec<u64>),
}

impl SizeDistribution {
    pub(crate) fn new(bs: &BlockSizes) -> Self {
        let unit = if bs.unaligned { 1 } else { bs.min };
        let choice = if bs.min == bs.max {
            Choice::Fixed
        } else if bs.split.is_empty() {
            Choice::Multiple(bs.min / unit, bs.max / unit)
        } else {
            Choice::Shares(
                ShuffleBag::new(bs.split.iter().map(|entry| entry.percent)),
                bs.split.iter().map(|entry| entry.bytes).collect(),
            )
        };
        Self {
            min: bs.min,
            max: bs.max,
            unit,
            choice,
        }
    }

    /// The next size in bytes.
    #[inline]
    pub(crate) fn next(&mut self, rng: &mut impl Rng) -> u64 {
        match &mut self.choice {
            Choice::Fixed => self.min,
            Choice::Multiple(min, max) => self.unit * rng.random_range(*min..=*max),
            Choice::Shares(bag, sizes) => sizes[bag.draw(rng)],
        }
    }

    pub(crate) fn is_unaligned(&self) -> bool {
        self.unit < self.min
    }

    /// The largest valid size that is at most `size` and fits in `space` bytes.
    #[inline]
    pub(crate) fn fit(&self, size: u64, space: u64) -> Option<u64> {
        if size <= space {
            Some(size)
        } else if space < self.min {
            None
        } else {
            Some(space - space % self.unit)
        }
    }
}
