//! Draws items with percentages that are exact within every 100 draws, in random order: a bag of
//! 100 items that is emptied and then refilled.

use rand::Rng;

/// Number of items in a bag: one per percent.
const ITEMS: usize = 100;

#[derive(Clone, Debug)]
pub(crate) struct ShuffleBag {
    items: [u8; ITEMS],
    drawn: usize,
}

impl ShuffleBag {
    /// Item `i` is in the bag `shares[i]` times. Shares add up to 100; the last item gets the
    /// remainder.
    pub(crate) fn new(shares: impl IntoIterator<Item = u8>) -> Self {
        let mut items = [0; ITEMS];
        let mut filled = 0;
        for (item, share) in shares.into_iter().enumerate() {
            items[filled..].fill(item as u8);
            filled = (filled + usize::from(share)).min(ITEMS);
        }
        Self { items, drawn: 0 }
    }

    /// Draws the next item with one step of a Fisher–Yates shuffle, so all draws take the same
    /// time.
    #[inline]
    pub(crate) fn draw(&mut self, rng: &mut impl Rng) -> usize {
        // Uses the upper half of a product instead of a division. At most 100 of 2^32 draws are
        // biased.
        let left = (ITEMS - self.drawn) as u64;
        let from = self.drawn + ((u64::from(rng.next_u32()) * left) >> 32) as usize;
        self.items.swap(self.drawn, from);
        let item = self.items[self.drawn];
        self.drawn = if left == 1 { 0 } else { self.drawn + 1 };
        usize::from(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    #[test]
    fn every_hundred_draws_match_the_shares() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for shares in [
            vec![70, 30],
            vec![0, 100],
            vec![100, 0],
            vec![1, 2, 97],
            vec![33, 33, 34],
        ] {
            let mut bag = ShuffleBag::new(shares.iter().copied());
            for _ in 0..50 {
                let mut counts = vec![0u8; shares.len()];
                (0..ITEMS).for_each(|_| counts[bag.draw(&mut rng)] += 1);
                assert_eq!(counts, shares);
            }
        }
    }

    #[test]
    fn every_round_has_a_different_order() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut bag = ShuffleBag::new([50, 50]);
        let mut round = || (0..ITEMS).map(|_| bag.draw(&mut rng)).collect::<Vec<_>>();
        assert_ne!(round(), round());
    }
}
