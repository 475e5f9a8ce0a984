//! Tracks the blocks of a region that a pass has not accessed yet, for random I/Os of different
//! sizes. Each pass accesses every block once: an I/O that would overlap an accessed block ends
//! before it, as in fio's random map.
//!
//! There is one bit per block and, at the level above, one bit per full word. The search for the
//! next free block therefore reads only a few words, even late in a pass over a large region.

use rand::{Rng, RngExt};

const WORD_BITS: usize = u64::BITS as usize;

#[derive(Clone, Debug)]
pub(crate) struct RandomMap {
    /// Bits for accessed blocks in the first level, and for full words of the level below in all
    /// other levels. The last level is one word. Bits past the end are set.
    levels: Vec<Vec<u64>>,
    blocks: usize,
    /// Number of blocks that the pass has not accessed.
    free: usize,
}

impl RandomMap {
    /// `blocks` must be at least 1.
    pub(crate) fn new(blocks: u64) -> Self {
        let blocks = usize::try_from(blocks).expect("the plan limits regions");
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(WORD_BITS);
            levels.push(vec![0; words]);
            bits = words;
            if words == 1 {
                break;
            }
        }
        let mut map = Self {
            levels,
            blocks,
            free: 0,
        };
        map.begin_pass();
        map
    }

    /// First block and length, in blocks, of the next random extent of at most `max_blocks`.
    pub(crate) fn take(&mut self, max_blocks: u64, rng: &mut impl Rng) -> (u64, u64) {
        if self.free == 0 {
            self.begin_pass();
        }
        let from = rng.random_range(0..self.blocks);
        let first = self.next_free(from).or_else(|| self.next_free(0));
        let first = first.expect("a pass has free blocks");
        let mut end = first;
        let limit = first.saturating_add(max_blocks as usize).min(self.blocks);
        while end < limit && !self.is_accessed(end) {
            self.set(end);
            end += 1;
        }
        self.free -= end - first;
        (first as u64, (end - first) as u64)
    }

    fn begin_pass(&mut self) {
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            let used = bits % WORD_BITS;
            if used > 0
                && let Some(last) = level.last_mut()
            {
                *last = !0 << used;
            }
            bits = level.len();
        }
        self.free = self.blocks;
    }

    fn is_accessed(&self, block: usize) -> bool {
        self.levels[0][block / WORD_BITS] >> (block % WORD_BITS) & 1 == 1
    }

    /// Sets the bit of a block, and the bits of all words that become full.
    fn set(&mut self, block: usize) {
        let mut bit = block;
        for level in &mut self.levels {
            let word = &mut level[bit / WORD_BITS];
            *word |= 1 << (bit % WORD_BITS);
            if *word != !0 {
                return;
            }
            bit /= WORD_BITS;
        }
    }

    /// The first free block at or after `from`.
    fn next_free(&self, from: usize) -> Option<usize> {
        let mut bit = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = bit / WORD_BITS;
            let free = !level.get(word)? & (!0 << (bit % WORD_BITS));
            if free != 0 {
                let found = word * WORD_BITS + free.trailing_zeros() as usize;
                return Some(self.first_free_below(height, found));
            }
            bit = word + 1;
        }
        None
    }

    /// The first free block below a clear bit at the given level.
    fn first_free_below(&self, height: usize, bit: usize) -> usize {
        let lower = self.levels[..height].iter().rev();
        lower.fold(bit, |bit, level| {
            bit * WORD_BITS + level[bit].trailing_ones() as usize
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

    #[test]
    fn every_pass_accesses_each_block_once() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for blocks in [1u64, 2, 63, 64, 65, 1000, 4096, 4097, 300_000] {
            let mut map = RandomMap::new(blocks);
            for pass in 0..3 {
                let mut taken = vec![false; blocks as usize];
                let mut left = blocks;
                while left > 0 {
                    let max = rng.random_range(1..=16);
                    let (first, len) = map.take(max, &mut rng);
                    assert!((1..=max).contains(&len), "{blocks} blocks, pass {pass}");
                    for block in first..first + len {
                        assert!(!std::mem::replace(&mut taken[block as usize], true));
                    }
                    left -= len;
                }
            }
        }
    }

    #[test]
    fn blocks_are_accessed_in_random_order() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut map = RandomMap::new(100_000);
        let firsts: Vec<u64> = (0..1000).map(|_| map.take(1, &mut rng).0).collect();
        let ascending = firsts.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((450..550).contains(&ascending), "{ascending}");
    }
}
