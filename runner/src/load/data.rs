//! What written buffers hold: zeros, random data, data of which a share compresses away, blocks of which a share repeats
//! an earlier one. Deterministic: the content of a block follows from the seed and its number alone.
//!
//! Every 4 KiB hold their share of zeros at the end, so that a compressor of any larger block finds the same share; the
//! unit of repeats is the smallest write. A repeat takes any earlier block, so that repeats lie far apart. Not here: when a buffer is filled (`refill_buffers`, the engine).

use crate::load::pattern::deck::Deck;
use leadline_protocol::plan::resolved::ResolvedJob;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

/// Bytes that hold one share of zeros: the smallest block that filesystems and devices compress. In fio's 512 bytes
/// (`buffer_compress_chunk`) a compressor's own overhead is 2 % of a share of 90 %.
const CHUNK_BYTES: usize = 4096;
/// Keeps the data of clones, and data and offsets, apart: odd numbers without a pattern.
const CLONE_STRIDE: u64 = 0xda94_2042_e4dd_58b5;
const BLOCK_STRIDE: u64 = 0xbf58_476d_1ce4_e5b9;

/// The data that one clone writes.
#[derive(Clone, Debug)]
pub struct Data {
    /// Only zeros.
    zero: bool,
    /// Share of every chunk, from its beginning, that is random, in percent; the rest is zero.
    random_percent: usize,
    /// Bytes of a block that may repeat.
    unit: usize,
    /// Says which blocks repeat: card 0.
    repeats: Option<Deck>,
    seed: u64,
    /// Blocks that were no repeats so far.
    fresh: u64,
    rng: Xoshiro256PlusPlus,
}

impl Data {
    /// The data of clone number `clone`.
    pub fn new(job: &ResolvedJob, clone: u32) -> Self {
        let seed = !job
            .pattern
            .randseed
            .wrapping_add(CLONE_STRIDE.wrapping_mul(u64::from(clone)));
        let dedupe = job.data.dedupe_percentage;
        Self {
            zero: job.data.zero_buffers,
            random_percent: 100 - usize::from(job.data.buffer_compress_percentage),
            unit: usize::try_from(job.pattern.bs.write.min).unwrap_or(usize::MAX),
            repeats: (dedupe > 0).then(|| Deck::new([dedupe, 100 - dedupe])),
            seed,
            fresh: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Fills a buffer with the next blocks.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        if self.zero {
            return buffer.fill(0);
        }
        for block in buffer.chunks_mut(self.unit) {
            let number = self.next_block();
            self.fill_block(number, block);
        }
    }

    /// The number of the next block: a new one, or that of an earlier one.
    fn next_block(&mut self) -> u64 {
        let repeats = self
            .repeats
            .as_mut()
            .is_some_and(|deck| deck.deal(&mut self.rng) == 0);
        if repeats && self.fresh > 0 {
            return self.rng.random_range(0..self.fresh);
        }
        self.fresh += 1;
        self.fresh - 1
    }

    fn fill_block(&self, number: u64, block: &mut [u8]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(
            self.seed.wrapping_add(BLOCK_STRIDE.wrapping_mul(number)),
        );
        if self.random_percent == 100 {
            return rng.fill_bytes(block);
        }
        for chunk in block.chunks_mut(CHUNK_BYTES) {
            let (random, zeros) = chunk.split_at_mut(chunk.len() * self.random_percent / 100);
            rng.fill_bytes(random);
            zeros.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::fixture::resolved;

    const BLOCKS: usize = 2000;

    /// Blocks of 4 KiB as they are written, in buffers of `each` blocks.
    fn written(different: Value, clone: u32, each: usize) -> Vec<u8> {
        let mut data = Data::new(&resolved(different), clone);
        let mut all = vec![0xff; BLOCKS * 4096];
        all.chunks_mut(each * 4096)
            .for_each(|buffer| data.fill(buffer));
        all
    }

    /// Percent of the bytes that a real compressor leaves out, block by block, as a filesystem does.
    fn compressed_away(bytes: &[u8], block: usize) -> f64 {
        let left: usize = bytes
            .chunks(block)
            .map(|block| {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(block).unwrap();
                encoder.finish().unwrap().len()
            })
            .sum();
        100.0 - left as f64 * 100.0 / bytes.len() as f64
    }

    #[test]
    fn the_asked_share_compresses_away() {
        for percent in [0u8, 10, 30, 50, 70, 90] {
            let bytes = written(json!({"buffer_compress_percentage": percent}), 0, 4);
            for block in [4096, 131_072] {
                let got = compressed_away(&bytes, block);
                assert!(
                    (got - f64::from(percent)).abs() < 2.0,
                    "{percent} % asked, {got:.2} % of blocks of {block} went away"
                );
            }
        }
    }

    #[test]
    fn the_asked_share_repeats() {
        for percent in [0u8, 1, 25, 50, 99] {
            for each in [1, 8] {
                let bytes = written(json!({"dedupe_percentage": percent}), 0, each);
                let distinct = bytes.chunks(4096).collect::<HashSet<_>>().len();
                let repeats = 100.0 - distinct as f64 * 100.0 / BLOCKS as f64;
                assert!(
                    (repeats - f64::from(percent)).abs() < 0.1,
                    "{percent} % asked, {repeats:.2} % repeat"
                );
            }
        }
    }

    #[test]
    fn repeats_lie_apart() {
        let bytes = written(json!({"dedupe_percentage": 50}), 0, 1);
        let blocks: Vec<&[u8]> = bytes.chunks(4096).collect();
        let beside = blocks.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(
            beside < 30,
            "{beside} of 1000 repeats follow their original"
        );
    }

    #[test]
    fn both_shares_hold_together() {
        let bytes = written(
            json!({"dedupe_percentage": 40, "buffer_compress_percentage": 60}),
            0,
            2,
        );
        assert!((compressed_away(&bytes, 4096) - 60.0).abs() < 2.0);
        assert_eq!(
            bytes.chunks(4096).collect::<HashSet<_>>().len(),
            BLOCKS * 60 / 100
        );
    }

    #[test]
    fn zeros_are_zeros() {
        assert!(
            written(json!({"zero_buffers": true}), 0, 1)
                .iter()
                .all(|byte| *byte == 0)
        );
    }

    #[test]
    fn data_is_the_same_every_time_and_another_for_each_clone() {
        assert_eq!(
            written(json!({}), 3, 1),
            written(json!({}), 3, 7),
            "the size of buffers does not matter"
        );
        assert_ne!(written(json!({}), 0, 1), written(json!({}), 1, 1));
        assert_ne!(
            written(json!({}), 0, 1),
            written(json!({"randseed": 138}), 0, 1)
        );
    }

    #[test]
    fn lengths_need_no_multiple() {
        let mut data = Data::new(&resolved(json!({"buffer_compress_percentage": 50})), 0);
        let mut buffer = vec![0xff; 4096 + 300];
        data.fill(&mut buffer);
        assert!(
            buffer[4096..4096 + 150].iter().any(|byte| *byte != 0)
                && buffer[4096 + 150..].iter().all(|byte| *byte == 0)
        );
    }
}
