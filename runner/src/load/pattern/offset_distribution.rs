//! Selects one of the `n` slots of a region for each random I/O.
//!
//! zipf and pareto draw a rank. A fixed permutation scatters the ranks across the region, like
//! fio's hash but without collisions; if a center is set, the permutation is shifted so that the
//! first rank has that position, as in fio. normal is centered in the region by default. Sources:
//! zipf by rejection (rand_distr), pareto as in fio's lib/zipf.c.

use crate::load::pattern::{
    permutation::Permutation, random_map::RandomMap, shuffle_bag::ShuffleBag,
};
use leadline_protocol::job::distribution::{AbsoluteZone, Distribution, Zone};
use rand::{Rng, RngExt};
use rand_distr::{Normal, Zipf};

#[derive(Clone, Debug)]
pub(crate) enum OffsetDistribution {
    /// Every slot once per pass.
    EachOnce(Permutation),
    /// Every block once per pass, with I/Os of different sizes.
    Blocks(RandomMap),
    /// Uniform across this many slots, with repetitions.
    Uniform(u64),
    /// Distribution of the ranks, and the slot for each rank.
    Zipf(Zipf<f64>, Ranks),
    /// Number of slots, exponent applied to a uniform random number, and the slot for each rank.
    Pareto(f64, f64, Ranks),
    /// Distribution and number of slots.
    Normal(Normal<f64>, u64),
    /// Share of each zone, its first slot, and its number of slots.
    Zoned(ShuffleBag, Vec<(u64, u64)>),
    Sequence(Sequence),
}

impl OffsetDistribution {
    /// A distribution across `n` slots (at least 1) of `align` bytes. `repeats`: the option
    /// `norandommap`.
    pub(crate) fn new(
        distribution: &Distribution,
        n: u64,
        align: u64,
        repeats: bool,
        rng: &mut impl Rng,
    ) -> Self {
        let slots = n as f64;
        match distribution {
            Distribution::Random if repeats => Self::Uniform(n),
            Distribution::Random => Self::EachOnce(Permutation::new(n, rng)),
            Distribution::Zipf { theta, center } => {
                let zipf = Zipf::new(slots, *theta).expect("the parser requires a finite exponent");
                Self::Zipf(zipf, Ranks::new(n, *center, rng))
            }
            Distribution::Pareto { power, center } => {
                let exponent = power.ln() / (1.0 - power).ln();
                Self::Pareto(slots, exponent, Ranks::new(n, *center, rng))
            }
            Distribution::Normal {
                deviation_percent,
                center,
            } => {
                let mean = slots * center.unwrap_or(0.5);
                let normal = Normal::new(mean, slots * deviation_percent / 100.0);
                Self::Normal(normal.expect("the parser requires a finite deviation"), n)
            }
            Distribution::Zoned { zones } => {
                let shares = zones.iter().map(|zone| zone.access_percent);
                Self::Zoned(ShuffleBag::new(shares), zone_slots(zones, n))
            }
            Distribution::ZonedAbs { zones } => {
                let shares = zones.iter().map(|zone| zone.access_percent);
                Self::Zoned(
                    ShuffleBag::new(shares),
                    absolute_zone_slots(zones, n, align),
                )
            }
            Distribution::Sequence { blocks, is_strided } => {
                Self::Sequence(Sequence::new(blocks, *is_strided, n))
            }
        }
    }

    /// A distribution across `n` ranks (at least 1) that are not scattered: neighbors have similar
    /// probabilities.
    pub(crate) fn in_order(distribution: &Distribution, n: u64, rng: &mut impl Rng) -> Self {
        let mut created = Self::new(distribution, n, 1, true, rng);
        let center = match distribution {
            Distribution::Zipf { center, .. } | Distribution::Pareto { center, .. } => *center,
            _ => None,
        };
        if let Self::Zipf(_, ranks) | Self::Pareto(_, _, ranks) = &mut created {
            *ranks = Ranks::in_order(n, center, rng);
        }
        created
    }

    /// Accesses each of `blocks` blocks (at least 1) once per pass.
    pub(crate) fn each_block_once(blocks: u64) -> Self {
        Self::Blocks(RandomMap::new(blocks))
    }

    /// Offset in the region and length of the next I/O, both in bytes. The length is below `len`
    /// only if the next block was already accessed in this pass.
    #[inline]
    pub(crate) fn next_extent(&mut self, len: u64, align: u64, rng: &mut impl Rng) -> (u64, u64) {
        if let Self::Blocks(map) = self {
            let (first, blocks) = map.take(len / align, rng);
            return (first * align, blocks * align);
        }
        (self.next(rng) * align, len)
    }

    /// The next slot, below `n`.
    #[inline]
    pub(crate) fn next(&mut self, rng: &mut impl Rng) -> u64 {
        match self {
            Self::EachOnce(permutation) => permutation.next(rng),
            Self::Blocks(map) => map.take(1, rng).0,
            Self::Uniform(n) => uniform(*n, rng),
            Self::Zipf(zipf, slots) => slots.get(rng.sample(*zipf) as u64 - 1),
            Self::Pareto(n, exponent, slots) => {
                slots.get((*n * rng.random::<f64>().powf(*exponent)) as u64)
            }
            Self::Normal(normal, n) => draw_truncated(normal, *n, rng),
            Self::Zoned(bag, zones) => {
                let (first, slots) = zones[bag.draw(rng)];
                first + rng.random_range(0..slots)
            }
            Self::Sequence(sequence) => sequence.next(),
        }
    }

    /// Fills `out` with `make(slot)` for the next slots. Branches on the distribution only once.
    #[inline]
    pub(crate) fn fill<T>(&mut self, out: &mut [T], make: impl Fn(u64) -> T, rng: &mut impl Rng) {
        match self {
            Self::EachOnce(permutation) => permutation.fill(out, make, rng),
            Self::Uniform(n) => out.fill_with(|| make(uniform(*n, rng))),
            _ => out.fill_with(|| make(self.next(rng))),
        }
    }
}

/// Repeats a list of slots (fio io_u.c, `__get_next_rand_offset_sequence`).
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    slots: Box<[u64]>,
    next: usize,
    /// Added to the slots in this repetition.
    base: u64,
    /// Added to the base after each repetition; 0 if there is no stride.
    step: u64,
    n: u64,
}

impl Sequence {
    /// The plan rejects slots beyond the region.
    fn new(slots: &[u64], is_strided: bool, n: u64) -> Self {
        Self {
            slots: slots.iter().map(|slot| (*slot).min(n - 1)).collect(),
            next: 0,
            base: 0,
            step: if is_strided { slots.len() as u64 } else { 0 },
            n,
        }
    }

    /// At the end of the region, the sequence restarts, as in a time-based fio job.
    fn next(&mut self) -> u64 {
        if self.base + self.slots[self.next] >= self.n {
            self.base = 0;
            self.next = 0;
        }
        let slot = self.base + self.slots[self.next];
        self.next += 1;
        if self.next == self.slots.len() {
            self.next = 0;
            self.base += self.step;
        }
        slot
    }
}

/// Maps ranks to slots.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    /// `None` if the slots are in the order of the ranks.
    slots: Option<Permutation>,
    n: u64,
    /// Added to every slot, modulo `n`.
    shift: u64,
}

impl Ranks {
    /// `center`: position of the first rank, from 0 to 1; `None` for a random one.
    fn new(n: u64, center: Option<f64>, rng: &mut impl Rng) -> Self {
        let slots = Permutation::new(n, rng);
        let shift = center.map_or(0, |center| {
            let first = ((n as f64 * center) as u64).min(n - 1);
            (first + n - slots.get(0)) % n
        });
        Self {
            slots: Some(slots),
            n,
            shift,
        }
    }

    /// `center`: position of the first rank, from 0 to 1; `None` for a random one.
    fn in_order(n: u64, center: Option<f64>, rng: &mut impl Rng) -> Self {
        let shift = match center {
            Some(center) => ((n as f64 * center) as u64).min(n - 1),
            None => uniform(n, rng),
        };
        Self {
            slots: None,
            n,
            shift,
        }
    }

    #[inline]
    pub(crate) fn get(&self, rank: u64) -> u64 {
        let slot = self.slots.as_ref().map_or(rank, |slots| slots.get(rank)) + self.shift;
        if slot < self.n { slot } else { slot - self.n }
    }
}

/// Uses the upper half of a product instead of a division or rejection. At most n of 2^64 draws are
/// biased.
#[inline]
fn uniform(n: u64, rng: &mut impl Rng) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Rejects samples outside the region instead of folding them back.
fn draw_truncated(normal: &Normal<f64>, n: u64, rng: &mut impl Rng) -> u64 {
    loop {
        let slot = rng.sample(normal);
        if slot >= 0.0 && slot < n as f64 {
            return slot as u64;
        }
    }
}

/// First slot and number of slots for each zone. A zone smaller than a slot shares a slot with its
/// neighbor.
fn zone_slots(zones: &[Zone], n: u64) -> Vec<(u64, u64)> {
    let slots_below = |percent: u64| (u128::from(n) * u128::from(percent) / 100) as u64;
    let mut begin = 0;
    let mut slots = Vec::with_capacity(zones.len());
    for zone in zones {
        let end = begin + u64::from(zone.size_percent);
        let first = slots_below(begin).min(n - 1);
        slots.push((first, slots_below(end).saturating_sub(first).max(1)));
        begin = end;
    }
    slots
}

/// Same as [`zone_slots`], but with sizes in bytes. The plan rejects zones beyond the end of the
/// region.
fn absolute_zone_slots(zones: &[AbsoluteZone], n: u64, align: u64) -> Vec<(u64, u64)> {
    let mut begin = 0u64;
    let mut slots = Vec::with_capacity(zones.len());
    for zone in zones {
        let end = begin.saturating_add(zone.size);
        let first = (begin / align).min(n - 1);
        let last = (end / align).min(n);
        slots.push((first, last.saturating_sub(first).max(1)));
        begin = end;
    }
    slots
}
