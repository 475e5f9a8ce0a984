//! Every number below `n` once a pass, in an order that looks random, without a map: a bijection on the next power of
//! two, counted through; what lies beyond `n` is skipped (less than half). Each pass has a bijection of its own.
//!
//! The bijection is a keyed finalizer in the manner of MurmurHash3: adding, odd multiplications and xor-shifts, each
//! of them invertible on k bits. It needs no memory (fio's random map needs a bit a block and a walk) and one I/O does
//! not wait for the one before.

use rand::Rng;

/// Rounds of the bijection: with three, one key in twenty still shows neighbours or lumps; four pass the tests below.
const ROUNDS: usize = 4;

/// Numbers that are made at a time where they are asked for one by one: enough for the processor to work on several at once, few
/// enough to stay in cache.
const READY: usize = 32;

/// Numbers below `n` in a keyed order.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    /// The power of two minus one.
    mask: u64,
    /// Half of the bits, at least 1.
    shift: u32,
    key: u64,
    odd: [u64; ROUNDS],
    counter: u64,
    /// Numbers to come, and how many of them were taken.
    ready: [u64; READY],
    taken: usize,
}

impl Permutation {
    /// The numbers below `n`, which is at least 1 and at most 2^63.
    pub fn new(n: u64, rng: &mut impl Rng) -> Self {
        let mask = n.next_power_of_two() - 1;
        let shift = mask.count_ones().div_ceil(2).max(1);
        let mut permutation = Self {
            n,
            mask,
            shift,
            key: 0,
            odd: [1; ROUNDS],
            counter: 0,
            ready: [0; READY],
            taken: READY,
        };
        permutation.rekey(rng);
        permutation
    }

    /// The next number; after the last one a new pass begins in another order.
    #[inline]
    pub fn next(&mut self, rng: &mut impl Rng) -> u64 {
        if self.taken == READY {
            let mut ready = [0; READY];
            self.fill(&mut ready, |number| number, rng);
            (self.ready, self.taken) = (ready, 0);
        }
        self.taken += 1;
        self.ready[self.taken - 1]
    }

    /// What `make` makes of the next numbers. Whether one lies below `n` cannot be foreseen, so that it is counted and not branched on.
    #[inline]
    pub fn fill<T>(&mut self, out: &mut [T], make: impl Fn(u64) -> T, rng: &mut impl Rng) {
        let mut filled = 0;
        while filled < out.len() {
            if self.counter > self.mask {
                self.rekey(rng);
            }
            let number = self.scramble(self.counter);
            self.counter += 1;
            out[filled] = make(number);
            filled += usize::from(number < self.n);
        }
    }

    /// Where `rank` (below `n`) lies: one place for each rank, always the same. Walks the cycle until it is below `n`.
    pub fn place(&self, rank: u64) -> u64 {
        let mut place = self.scramble(rank);
        while place >= self.n {
            place = self.scramble(place);
        }
        place
    }

    #[cold]
    fn rekey(&mut self, rng: &mut impl Rng) {
        self.key = rng.next_u64();
        self.odd = std::array::from_fn(|_| rng.next_u64() | 1);
        self.counter = 0;
    }

    #[inline]
    fn scramble(&self, number: u64) -> u64 {
        let keyed = number.wrapping_add(self.key) & self.mask;
        self.odd.iter().fold(keyed, |x, odd| {
            let spread = x.wrapping_mul(*odd) & self.mask;
            spread ^ (spread >> self.shift)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    use super::*;

    fn pass(permutation: &mut Permutation, rng: &mut Xoshiro256PlusPlus) -> Vec<u64> {
        (0..permutation.n).map(|_| permutation.next(rng)).collect()
    }

    proptest! {
        #[test]
        fn each_pass_has_every_number_once(n in 1u64..5000, seed: u64) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut permutation = Permutation::new(n, &mut rng);
            for _ in 0..3 {
                let mut numbers = pass(&mut permutation, &mut rng);
                numbers.sort_unstable();
                prop_assert!(numbers.into_iter().eq(0..n));
            }
        }

        #[test]
        fn each_rank_has_a_place_of_its_own(n in 1u64..3000, seed: u64) {
            let permutation = Permutation::new(n, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            let mut places: Vec<u64> = (0..n).map(|rank| permutation.place(rank)).collect();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..n));
        }
    }

    /// A pass that looks random: half of the steps go up, few go to a neighbour (which readahead would notice), and
    /// every sixteenth of the pass reaches every sixteenth of the range about equally.
    #[test]
    fn a_pass_looks_random() {
        const N: u64 = 1 << 16;
        for seed in 0..20 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let numbers = pass(&mut Permutation::new(N, &mut rng), &mut rng);
            let up = numbers.windows(2).filter(|pair| pair[1] > pair[0]).count() as f64 / N as f64;
            assert!((0.48..0.52).contains(&up), "seed {seed}: {up} go up");
            let near = numbers
                .windows(2)
                .filter(|pair| pair[0].abs_diff(pair[1]) <= 4)
                .count();
            assert!(near < 40, "seed {seed}: {near} neighbours; 8 are expected");
            let expected = N as f64 / 256.0;
            let mut cells = [0f64; 256];
            numbers.iter().enumerate().for_each(|(turn, number)| {
                cells[turn / 4096 * 16 + (*number / 4096) as usize] += 1.0
            });
            let chi_square: f64 = cells
                .iter()
                .map(|count| (count - expected).powi(2) / expected)
                .sum();
            assert!(
                chi_square < 330.0,
                "seed {seed}: chi² {chi_square} of 225 degrees of freedom"
            );
        }
    }

    #[test]
    fn two_passes_differ() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut permutation = Permutation::new(1000, &mut rng);
        assert_ne!(
            pass(&mut permutation, &mut rng),
            pass(&mut permutation, &mut rng)
        );
    }
}
