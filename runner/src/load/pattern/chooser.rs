//! Which of `n` slots of a region a random I/O takes: every slot once a pass (the default), or liked ones more often.
//!
//! zipf and pareto draw a rank; a fixed permutation scatters the ranks over the region, as fio's hash does, but no
//! two ranks fall together. normal is a bell around the middle. Formulas: zipf by rejection (rand_distr), pareto as
//! in fio's lib/zipf.c.

use crate::load::pattern::deck::Deck;
use crate::load::pattern::permutation::Permutation;
use leadline_protocol::job::value::{Distribution, Zone};
use rand::{Rng, RngExt};
use rand_distr::{Normal, Zipf};

/// How slots are chosen.
#[derive(Clone, Debug)]
pub(crate) enum Chooser {
    /// Every slot once a pass.
    EveryOnce(Permutation),
    /// Any slot at any time.
    Any(u64),
    /// Ranks by a zipf law, scattered.
    Zipf(Zipf<f64>, Permutation),
    /// Ranks by a power of a uniform number, scattered: number of slots and power.
    Pareto(f64, f64, Permutation),
    /// A bell: number of slots beside it.
    Normal(Normal<f64>, u64),
    /// Zones with shares: first slot and slots of each.
    Zoned(Deck, Vec<(u64, u64)>),
}

impl Chooser {
    /// A chooser of `n` slots (at least 1).
    pub fn new(distribution: &Distribution, n: u64, repeats: bool, rng: &mut impl Rng) -> Self {
        let slots = n as f64;
        match distribution {
            Distribution::Random if repeats => Self::Any(n),
            Distribution::Random => Self::EveryOnce(Permutation::new(n, rng)),
            Distribution::Zipf { theta } => {
                // n is at least 1 and the parser takes only finite positive exponents.
                Self::Zipf(
                    Zipf::new(slots, *theta).expect("a zipf law over at least one slot"),
                    Permutation::new(n, rng),
                )
            }
            Distribution::Pareto { power } => Self::Pareto(
                slots,
                power.ln() / (1.0 - power).ln(),
                Permutation::new(n, rng),
            ),
            Distribution::Normal { deviation_percent } => Self::Normal(
                Normal::new(slots / 2.0, slots * deviation_percent / 100.0)
                    .expect("a finite deviation"),
                n,
            ),
            Distribution::Zoned { zones } => Self::Zoned(
                Deck::new(zones.iter().map(|zone| zone.access_percent)),
                zone_slots(zones, n),
            ),
        }
    }

    /// The next slot, below `n`.
    #[inline]
    pub fn next(&mut self, rng: &mut impl Rng) -> u64 {
        match self {
            Self::EveryOnce(permutation) => permutation.next(rng),
            Self::Any(n) => any(*n, rng),
            Self::Zipf(zipf, places) => places.place(rng.sample(*zipf) as u64 - 1),
            Self::Pareto(slots, power, places) => {
                places.place((*slots * rng.random::<f64>().powf(*power)) as u64)
            }
            Self::Normal(bell, n) => inside(bell, *n, rng),
            Self::Zoned(deck, zones) => {
                let (first, slots) = zones[deck.deal(rng)];
                first + rng.random_range(0..slots)
            }
        }
    }

    /// What `make` makes of the next slots: the law is asked for once, not for each.
    #[inline]
    pub fn fill<T>(&mut self, out: &mut [T], make: impl Fn(u64) -> T, rng: &mut impl Rng) {
        match self {
            Self::EveryOnce(permutation) => permutation.fill(out, make, rng),
            Self::Any(n) => out.fill_with(|| make(any(*n, rng))),
            _ => out.fill_with(|| make(self.next(rng))),
        }
    }
}

/// A product's upper half instead of a division or a second try: of 2^64 draws at most n favour a slot.
#[inline]
fn any(n: u64, rng: &mut impl Rng) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Draws until the slot lies in the region: the bell is cut at both ends, not folded back.
fn inside(bell: &Normal<f64>, n: u64, rng: &mut impl Rng) -> u64 {
    loop {
        let slot = rng.sample(bell);
        if slot >= 0.0 && slot < n as f64 {
            return slot as u64;
        }
    }
}

/// First slot and slots of each zone. A zone too small for a slot shares its neighbour's.
fn zone_slots(zones: &[Zone], n: u64) -> Vec<(u64, u64)> {
    let slots_below = |percent: u64| (u128::from(n) * u128::from(percent) / 100) as u64;
    let mut begin = 0;
    let place = |zone: &Zone| {
        let end = begin + u64::from(zone.size_percent);
        let first = slots_below(begin).min(n - 1);
        begin = end;
        (first, slots_below(end).saturating_sub(first).max(1))
    };
    zones.iter().map(place).collect()
}
