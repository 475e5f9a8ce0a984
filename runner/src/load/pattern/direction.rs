//! A job's state for one direction, shared by all targets: sizes, alignment, and whether the next
//! I/O is random or sequential.

use crate::load::pattern::{
    io::Kind, shuffle_bag::ShuffleBag, size_distribution::SizeDistribution,
};
use leadline_protocol::{
    job::{distribution::Distribution, keyword::RwSequencer},
    plan::job::{BlockSizes, ResolvedJob},
};
use rand::Rng;

#[derive(Clone, Debug)]
pub(crate) struct DirectionState {
    pub sizes: SizeDistribution,
    /// Sizes of sequential I/Os in a random pattern, and, once the next I/O's size has been chosen,
    /// whether that I/O is random.
    sequential_sizes: Option<Box<(SizeDistribution, Option<bool>)>>,
    /// Alignment of random offsets in bytes.
    pub align: u64,
    pub distribution: Distribution,
    /// Bytes between the end of a sequential I/O and the next one; negative for backward access.
    pub gap: i64,
    /// Whether I/Os that follow a random one repeat its offset (`rw_sequencer=identical`).
    pub repeats_offset: bool,
    /// Index of the offset distribution in an `OffsetGenerator`. Directions with the same blocks
    /// share a distribution, so together they access every block once.
    pub distribution_index: usize,
    randomness: Randomness,
}

/// Which I/Os have a random offset. All other I/Os continue sequentially.
#[derive(Clone, Debug)]
enum Randomness {
    Never,
    Always,
    /// One of every `every` I/Os is random (`rw=randread:N`), followed by sequential I/Os.
    EveryNth {
        every: u64,
        left: u64,
    },
    /// Random if item 0 is drawn (`percentage_random`).
    Share(ShuffleBag),
}

impl DirectionState {
    /// Reads, writes and trims, indexed by `Kind`.
    pub(crate) fn all(job: &ResolvedJob) -> [Self; 3] {
        let options = &job.pattern;
        let gap = if options.rw.is_random() {
            0
        } else {
            options.rw_modifier.unwrap_or(0)
        };
        let direction =
            |kind, bs: &BlockSizes, align: &u64, distribution: &Distribution, percent| Self {
                sizes: SizeDistribution::new(bs),
                sequential_sizes: options
                    .sequential_bs
                    .as_ref()
                    .map(|bs| Box::new((SizeDistribution::new(bs), None))),
                align: *align,
                distribution: distribution.clone(),
                gap,
                repeats_offset: options.rw_sequencer == RwSequencer::Identical
                    && options.rw.is_random(),
                distribution_index: kind as usize,
                randomness: Randomness::new(job, percent),
            };
        let bs = &options.bs;
        let align = &options.blockalign;
        let offsets = &options.random_distribution;
        let percent = &options.percentage_random;
        let read = direction(
            Kind::Read,
            &bs.read,
            &align.read,
            &offsets.read,
            percent.read,
        );
        let mut write = direction(
            Kind::Write,
            &bs.write,
            &align.write,
            &offsets.write,
            percent.write,
        );
        let trim = direction(
            Kind::Trim,
            &bs.trim,
            &align.trim,
            &offsets.trim,
            percent.trim,
        );
        if read.has_same_blocks(&write) {
            write.distribution_index = read.distribution_index;
        }
        [read, write, trim]
    }

    /// Size of the next I/O in bytes, at most `left`; `None` if not even the smallest fits.
    #[inline]
    pub(crate) fn next_size(&mut self, left: u64, rng: &mut impl Rng) -> Option<u64> {
        if self.sequential_sizes.is_some() {
            return self.next_size_by_randomness(left, rng);
        }
        let size = self.sizes.next(rng);
        self.sizes.fit(size, left)
    }

    /// First decides whether the next I/O is random, because its size depends on that.
    #[cold]
    fn next_size_by_randomness(&mut self, left: u64, rng: &mut impl Rng) -> Option<u64> {
        let is_random = self.randomness.next(rng);
        let (sequential, decided) = &mut **self.sequential_sizes.as_mut()?;
        *decided = Some(is_random);
        let sizes = if is_random {
            &mut self.sizes
        } else {
            sequential
        };
        let size = sizes.next(rng);
        sizes.fit(size, left)
    }

    /// Returns true if the next I/O has a random offset.
    #[inline]
    pub(crate) fn next_is_random(&mut self, rng: &mut impl Rng) -> bool {
        if let Some(sequential) = &mut self.sequential_sizes
            && let Some(is_random) = sequential.1.take()
        {
            return is_random;
        }
        self.randomness.next(rng)
    }

    /// Sizes of sequential I/Os.
    pub(crate) fn sequential_sizes(&self) -> &SizeDistribution {
        match &self.sequential_sizes {
            Some(sequential) => &sequential.0,
            None => &self.sizes,
        }
    }

    /// Size of the smallest I/O in bytes.
    pub(crate) fn smallest(&self) -> u64 {
        self.sizes.min.min(self.sequential_sizes().min)
    }

    /// Returns true if all I/Os have the same size and a random offset.
    pub(crate) fn is_uniformly_random(&self) -> bool {
        matches!(self.randomness, Randomness::Always) && self.sizes.min == self.sizes.max
    }

    /// Returns true if all I/Os have the same size, and each starts after the last one.
    pub(crate) fn is_uniformly_sequential(&self) -> bool {
        matches!(self.randomness, Randomness::Never)
            && self.sizes.min == self.sizes.max
            && self.gap >= 0
    }

    /// Returns true if random I/Os of different sizes access every block once per pass. Sequential
    /// I/Os in between may access blocks again, as in fio.
    pub(crate) fn uses_random_map(&self) -> bool {
        matches!(self.randomness, Randomness::Always)
            && self.sizes.min < self.sizes.max
            && !self.sizes.is_unaligned()
            && self.align == self.sizes.min
            && self.distribution == Distribution::Random
    }

    /// Returns true if any I/O has a random offset.
    pub(crate) fn is_random(&self) -> bool {
        !matches!(self.randomness, Randomness::Never)
    }

    pub(crate) fn is_backward(&self) -> bool {
        self.gap.saturating_add_unsigned(self.sizes.min) < 0
    }

    /// Returns true if both directions have the same range of sizes, alignment and distribution.
    pub(crate) fn has_same_blocks(&self, other: &Self) -> bool {
        self.align == other.align
            && self.sizes.min == other.sizes.min
            && self.sizes.max == other.sizes.max
            && self.distribution == other.distribution
    }
}

impl Randomness {
    /// Returns true if the next I/O is random.
    #[inline]
    fn next(&mut self, rng: &mut impl Rng) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::EveryNth { every, left } => {
                let is_random = *left == 0;
                *left = if is_random { *every } else { *left } - 1;
                is_random
            }
            Self::Share(bag) => bag.draw(rng) == 0,
        }
    }

    fn new(job: &ResolvedJob, percent: u8) -> Self {
        if !job.pattern.rw.is_random() {
            return Self::Never;
        }
        match job.pattern.rw_modifier {
            Some(every) if every > 1 => Self::EveryNth {
                every: every as u64,
                left: 0,
            },
            _ if percent == 100 => Self::Always,
            _ => Self::Share(ShuffleBag::new([percent, 100 - percent])),
        }
    }
}
