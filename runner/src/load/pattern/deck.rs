//! Shares in percent, exact and in random order: a pack of 100 cards that is dealt to the end and shuffled anew. Every
//! 100 draws hold exactly the asked shares, while the next draw cannot be told from the last.

use rand::Rng;

/// Cards in a pack: one for each percent.
const CARDS: usize = 100;

/// A pack of cards, dealt one by one.
#[derive(Clone, Debug)]
pub(crate) struct Deck {
    cards: [u8; CARDS],
    dealt: usize,
}

impl Deck {
    /// A pack in which card number `i` is as frequent as the `i`th share says, in percent. The shares add up to 100;
    /// what is missing goes to the last.
    pub fn new(shares: impl IntoIterator<Item = u8>) -> Self {
        let mut cards = [0; CARDS];
        let mut filled = 0;
        for (card, share) in shares.into_iter().enumerate() {
            cards[filled..].fill(card as u8);
            filled = (filled + usize::from(share)).min(CARDS);
        }
        Self { cards, dealt: 0 }
    }

    /// The next card. One step of the Fisher–Yates shuffle, so that shuffling costs no pause.
    #[inline]
    pub fn deal(&mut self, rng: &mut impl Rng) -> usize {
        // A product's upper half instead of a division; of 2^32 draws at most 100 favour a card.
        let left = (CARDS - self.dealt) as u64;
        let from = self.dealt + ((u64::from(rng.next_u32()) * left) >> 32) as usize;
        self.cards.swap(self.dealt, from);
        let card = self.cards[self.dealt];
        self.dealt = if left == 1 { 0 } else { self.dealt + 1 };
        usize::from(card)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn every_hundred_cards_hold_the_shares() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for shares in [
            vec![70, 30],
            vec![0, 100],
            vec![100, 0],
            vec![1, 2, 97],
            vec![33, 33, 34],
        ] {
            let mut deck = Deck::new(shares.iter().copied());
            for _ in 0..50 {
                let mut seen = vec![0u8; shares.len()];
                (0..CARDS).for_each(|_| seen[deck.deal(&mut rng)] += 1);
                assert_eq!(seen, shares);
            }
        }
    }

    #[test]
    fn the_order_is_another_in_every_round() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut deck = Deck::new([50, 50]);
        let mut round = || (0..CARDS).map(|_| deck.deal(&mut rng)).collect::<Vec<_>>();
        assert_ne!(round(), round());
    }
}
