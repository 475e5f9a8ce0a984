//! Generates every number below `n` once per pass, in pseudo-random order and without a map: a
//! bijection on the next power of two, applied to a counter. Results that are not below `n` (less
//! than half) are skipped. Each pass uses a different bijection.
//!
//! The bijection is a keyed finalizer like MurmurHash3's: additions, odd multiplications and
//! xor-shifts, each invertible on k bits. It needs no memory (fio's random map needs a bit per
//! block and a search), and I/Os do not depend on previous I/Os.

use rand::Rng;

/// Rounds of the bijection. With three rounds, one key in twenty still produces neighbors or
/// clusters; four rounds pass the tests below.
const ROUNDS: usize = 4;

/// Numbers generated ahead for `next`: enough for instruction-level parallelism, few enough to
/// stay in cache.
const BATCH: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    /// Power of two minus one.
    mask: u64,
    /// Half of the bits, at least 1.
    shift: u32,
    key: u64,
    odd: [u64; ROUNDS],
    counter: u64,
    /// Generated numbers, and how many of them `next` has returned.
    ready: [u64; BATCH],
    taken: usize,
}

impl Permutation {
    /// `n` must be between 1 and 2^63.
    pub(crate) fn new(n: u64, rng: &mut impl Rng) -> Self {
        let mask = n.next_power_of_two() - 1;
        let shift = mask.count_ones().div_ceil(2).max(1);
        let mut permutation = Self {
            n,
            mask,
            shift,
            key: 0,
            odd: [1; ROUNDS],
            counter: 0,
            ready: [0; BATCH],
            taken: BATCH,
        };
        permutation.rekey(rng);
        permutation
    }

    /// The next number. After the last number, a new pass starts in a different order.
    #[inline]
    pub(crate) fn next(&mut self, rng: &mut impl Rng) -> u64 {
        if self.taken == BATCH {
            let mut ready = [0; BATCH];
            self.fill(&mut ready, |number| number, rng);
            self.ready = ready;
            self.taken = 0;
        }
        self.taken += 1;
        self.ready[self.taken - 1]
    }

    /// Fills `out` with `make(number)` for the next numbers. Branch-free: whether a number is below
    /// `n` is unpredictable, so the result of the comparison is added to the index.
    #[inline]
    pub(crate) fn fill<T>(&mut self, out: &mut [T], make: impl Fn(u64) -> T, rng: &mut impl Rng) {
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

    /// Maps `rank` (below `n`) to a number below `n`: always to the same number, and each rank to a
    /// different number. Applies the bijection repeatedly until the result is below `n`.
    pub(crate) fn get(&self, rank: u64) -> u64 {
        let mut number = self.scramble(rank);
        while number >= self.n {
            number = self.scramble(number);
        }
        number
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
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    fn pass(permutation: &mut Permutation, rng: &mut Xoshiro256PlusPlus) -> Vec<u64> {
        (0..permutation.n).map(|_| permutation.next(rng)).collect()
    }

    proptest! {
        #[test]
        fn each_pass_contains_every_number_once(n in 1u64..5000, seed: u64) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut permutation = Permutation::new(n, &mut rng);
            for _ in 0..3 {
                let mut numbers = pass(&mut permutation, &mut rng);
                numbers.sort_unstable();
                prop_assert!(numbers.into_iter().eq(0..n));
            }
        }

        #[test]
        fn ranks_map_to_distinct_numbers(n in 1u64..3000, seed: u64) {
            let permutation = Permutation::new(n, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            let mut numbers: Vec<u64> = (0..n).map(|rank| permutation.get(rank)).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..n));
        }
    }

    /// Half of the steps ascend, few are to adjacent numbers (which readahead would detect), and
    /// each 1/16 of a pass covers all parts of the range about equally.
    #[test]
    fn a_pass_is_statistically_random() {
        const N: u64 = 1 << 16;
        for seed in 0..20 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let numbers = pass(&mut Permutation::new(N, &mut rng), &mut rng);
            let up = numbers.windows(2).filter(|pair| pair[1] > pair[0]).count() as f64 / N as f64;
            assert!((0.48..0.52).contains(&up), "seed {seed}: {up} ascend");
            let near = numbers
                .windows(2)
                .filter(|pair| pair[0].abs_diff(pair[1]) <= 4)
                .count();
            assert!(near < 40, "seed {seed}: {near} neighbors, 8 expected");
            let expected = N as f64 / 256.0;
            let mut cells = [0f64; 256];
            for (index, number) in numbers.iter().enumerate() {
                cells[index / 4096 * 16 + (*number / 4096) as usize] += 1.0;
            }
            let chi_square: f64 = cells
                .iter()
                .map(|count| (count - expected).powi(2) / expected)
                .sum();
            assert!(
                chi_square < 330.0,
                "seed {seed}: χ² {chi_square} with 225 degrees of freedom"
            );
        }
    }

    #[test]
    fn passes_differ() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut permutation = Permutation::new(1000, &mut rng);
        assert_ne!(
            pass(&mut permutation, &mut rng),
            pass(&mut permutation, &mut rng)
        );
    }
}
