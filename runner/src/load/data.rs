//! Generates the contents of write buffers: zeros, random data, partly compressible data, or data
//! with duplicate blocks. A block's contents depend only on the seed and the block's number.
//!
//! Every 4 KiB chunk ends with zeros, so a compressor with larger blocks achieves the same ratio.
//! Duplicates are as large as the smallest write and may repeat any earlier block, so they are far
//! apart. If buffers are not refilled for each write, `stamp` makes every block unique.
//! `engine::write_buffers` and `worker` decide when to fill a buffer.

pub(crate) mod stamp;

use crate::load::pattern::shuffle_bag::ShuffleBag;
use leadline_protocol::plan::job::{DedupeWorkingSet, ResolvedJob};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

/// Unit of compressibility, in bytes: the smallest block that filesystems and devices compress.
/// With fio's 512 bytes (`buffer_compress_chunk`), the compressor's overhead is 2 % at 90 %
/// compressibility.
const CHUNK_BYTES: usize = 4096;
/// Multipliers that give each worker and block a distinct seed: odd numbers with irregular bits.
const WORKER_STRIDE: u64 = 0xda94_2042_e4dd_58b5;
const BLOCK_STRIDE: u64 = 0xbf58_476d_1ce4_e5b9;

/// Generates the data that one worker writes.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    /// Whether all data is zeros.
    zero: bool,
    /// Percentage of random bytes at the start of every chunk; zeros follow.
    random_percent: usize,
    /// Size of a block that may be a duplicate, in bytes.
    block_bytes: usize,
    /// Draws 0 for a duplicate or 1 for a new block; `None` if there are no duplicates.
    duplicates: Option<ShuffleBag>,
    working_set: Option<Box<WorkingSet>>,
    seed: u64,
    /// Number of distinct blocks generated so far.
    distinct: u64,
    rng: Xoshiro256PlusPlus,
}

/// The blocks that duplicates repeat (`dedupe_mode=working_set`): the first unique blocks of every
/// worker in `seeds`, which starts with this worker.
#[derive(Clone, Debug)]
struct WorkingSet {
    blocks: u64,
    seeds: Box<[u64]>,
    blocks_per_seed: u64,
}

impl WorkingSet {
    /// As in fio, a global set is divided among all workers, and the last worker gets the remainder
    /// (dedupe.c, `init_dedupe_working_set_seeds`).
    fn new(options: DedupeWorkingSet, seeds: impl Iterator<Item = u64>, seed: u64) -> Self {
        let all_seeds: Vec<u64> = seeds.collect();
        let first = all_seeds.iter().position(|other| *other == seed);
        let seeds: Box<[u64]> = match first.filter(|_| options.is_global) {
            Some(first) => [&all_seeds[first..], &all_seeds[..first]].concat().into(),
            None => [seed].into(),
        };
        Self {
            blocks: options.blocks,
            blocks_per_seed: (options.blocks / seeds.len() as u64).max(1),
            seeds,
        }
    }

    /// Seed and number of a random block in the set.
    fn draw(&self, rng: &mut impl Rng) -> (u64, u64) {
        let block = rng.random_range(0..self.blocks);
        let owner = (block / self.blocks_per_seed) % self.seeds.len() as u64;
        (self.seeds[owner as usize], block % self.blocks_per_seed)
    }
}

/// Seed for the data that a worker writes.
fn worker_seed(randseed: u64, worker: u32) -> u64 {
    let worker_seed = WORKER_STRIDE.wrapping_mul(u64::from(worker));
    !randseed.wrapping_add(worker_seed)
}

impl Data {
    pub(crate) fn new(job: &ResolvedJob, worker: u32) -> Self {
        let seed = worker_seed(job.pattern.randseed, worker);
        let jobs = job.data.dedupe_jobs.iter();
        let seeds = jobs.flat_map(|(randseed, workers)| {
            (0..*workers).map(|worker| worker_seed(*randseed, worker))
        });
        let working_set = job.data.dedupe_working_set;
        let dedupe = job.data.dedupe_percentage;
        Self {
            zero: job.data.zero_buffers,
            random_percent: 100 - usize::from(job.data.buffer_compress_percentage),
            block_bytes: usize::try_from(job.pattern.bs.write.min).unwrap_or(usize::MAX),
            duplicates: (dedupe > 0).then(|| ShuffleBag::new([dedupe, 100 - dedupe])),
            working_set: working_set.map(|options| Box::new(WorkingSet::new(options, seeds, seed))),
            seed,
            distinct: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Fills a buffer with the next blocks.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        if self.zero {
            return buffer.fill(0);
        }
        for block in buffer.chunks_mut(self.block_bytes) {
            let (seed, number) = self.next_block();
            self.fill_block(seed, number, block);
        }
    }

    /// Seed and number of a new block or, for a duplicate, of a block to repeat.
    fn next_block(&mut self) -> (u64, u64) {
        let bag = self.duplicates.as_mut();
        let is_duplicate = bag.is_some_and(|bag| bag.draw(&mut self.rng) == 0);
        match &self.working_set {
            Some(working_set) if is_duplicate => return working_set.draw(&mut self.rng),
            None if is_duplicate && self.distinct > 0 => {
                return (self.seed, self.rng.random_range(0..self.distinct));
            }
            _ => {}
        }
        self.distinct += 1;
        (self.seed, self.distinct - 1)
    }

    fn fill_block(&self, seed: u64, number: u64, block: &mut [u8]) {
        let seed = seed.wrapping_add(BLOCK_STRIDE.wrapping_mul(number));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
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

/// Repeats a pattern from the start of a buffer (`buffer_pattern`).
pub(crate) fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    let chunks = buffer.chunks_mut(pattern.len());
    chunks.for_each(|chunk| chunk.copy_from_slice(&pattern[..chunk.len()]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture::resolved;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use serde_json::{Value, json};
    use std::collections::HashSet;
    use std::io::Write;

    const BLOCKS: usize = 2000;

    /// Generates all 4 KiB blocks, in buffers of `buffer_blocks` blocks.
    fn written_bytes(options: Value, worker: u32, buffer_blocks: usize) -> Vec<u8> {
        let mut data = Data::new(&resolved(options), worker);
        let mut bytes = vec![0xff; BLOCKS * 4096];
        for buffer in bytes.chunks_mut(buffer_blocks * 4096) {
            data.fill(buffer);
        }
        bytes
    }

    fn distinct_blocks(bytes: &[u8]) -> usize {
        bytes.chunks(4096).collect::<HashSet<_>>().len()
    }

    /// Percentage of bytes saved by compressing block by block, as a filesystem does.
    fn compressible_percent(bytes: &[u8], block: usize) -> f64 {
        let compressed: usize = bytes
            .chunks(block)
            .map(|block| {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(block).unwrap();
                encoder.finish().unwrap().len()
            })
            .sum();
        100.0 - compressed as f64 * 100.0 / bytes.len() as f64
    }

    #[test]
    fn data_is_as_compressible_as_requested() {
        for percent in [0u8, 10, 30, 50, 70, 90] {
            let bytes = written_bytes(json!({"buffer_compress_percentage": percent}), 0, 4);
            for block in [4096, 131_072] {
                let actual = compressible_percent(&bytes, block);
                assert!(
                    (actual - f64::from(percent)).abs() < 2.0,
                    "{percent} % requested, {actual:.2} % in blocks of {block}"
                );
            }
        }
    }

    #[test]
    fn duplicates_have_the_requested_share() {
        for percent in [0u8, 1, 25, 50, 99] {
            for buffer_blocks in [1, 8] {
                let bytes = written_bytes(json!({"dedupe_percentage": percent}), 0, buffer_blocks);
                let actual = 100.0 - distinct_blocks(&bytes) as f64 * 100.0 / BLOCKS as f64;
                assert!(
                    (actual - f64::from(percent)).abs() < 0.1,
                    "{percent} % requested, {actual:.2} % are duplicates"
                );
            }
        }
    }

    #[test]
    fn duplicates_are_scattered() {
        let bytes = written_bytes(json!({"dedupe_percentage": 50}), 0, 1);
        let blocks: Vec<&[u8]> = bytes.chunks(4096).collect();
        let adjacent = blocks.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(adjacent < 30, "{adjacent} of 1000 duplicates are adjacent");
    }

    #[test]
    fn working_set_duplicates_repeat_its_blocks() {
        let set = json!({"blocks": 50, "is_global": false});
        let bytes = written_bytes(
            json!({"dedupe_percentage": 60, "dedupe_working_set": set}),
            0,
            4,
        );
        let mut counts = std::collections::HashMap::new();
        bytes
            .chunks(4096)
            .for_each(|block| *counts.entry(block).or_insert(0) += 1);
        let repeated: Vec<_> = counts.values().filter(|count| **count > 1).collect();
        assert!(repeated.len() <= 50 && repeated.len() > 45, "{repeated:?}");
        assert_eq!(distinct_blocks(&bytes), BLOCKS * 40 / 100);
    }

    #[test]
    fn workers_share_a_global_working_set() {
        let set = json!({"blocks": 40, "is_global": true});
        let mut job = resolved(json!({
            "dedupe_percentage": 50, "dedupe_working_set": set, "numjobs": 2
        }));
        job.data.dedupe_jobs = vec![(job.pattern.randseed, 2)];
        let blocks = [0, 1].map(|worker| {
            let mut bytes = vec![0; BLOCKS * 4096];
            Data::new(&job, worker).fill(&mut bytes);
            let blocks = bytes.chunks(4096).map(<[u8]>::to_vec);
            blocks.collect::<HashSet<_>>()
        });
        assert_eq!(blocks[0].intersection(&blocks[1]).count(), 40);
    }

    #[test]
    fn compression_and_deduplication_combine() {
        let options = json!({"dedupe_percentage": 40, "buffer_compress_percentage": 60});
        let bytes = written_bytes(options, 0, 2);
        assert!((compressible_percent(&bytes, 4096) - 60.0).abs() < 2.0);
        assert_eq!(distinct_blocks(&bytes), BLOCKS * 60 / 100);
    }

    #[test]
    fn buffer_pattern_is_repeated_from_the_start_of_a_buffer() {
        let mut buffer = [0; 4096];
        repeat(&[0xab, 0xcd, 0xef], &mut buffer);
        assert_eq!(buffer[..4], [0xab, 0xcd, 0xef, 0xab]);
        assert_eq!(buffer[4094..], [0xef, 0xab]);
    }

    #[test]
    fn zero_buffers_writes_zeros() {
        let bytes = written_bytes(json!({"zero_buffers": true}), 0, 1);
        assert!(bytes.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn data_depends_only_on_seed_and_worker() {
        let data = written_bytes(json!({}), 0, 1);
        assert_eq!(
            data,
            written_bytes(json!({}), 0, 7),
            "the buffer size does not affect the data"
        );
        assert_ne!(data, written_bytes(json!({}), 1, 1));
        assert_ne!(data, written_bytes(json!({"randseed": 138}), 0, 1));
    }

    #[test]
    fn buffers_of_any_length_can_be_filled() {
        let mut data = Data::new(&resolved(json!({"buffer_compress_percentage": 50})), 0);
        let mut buffer = vec![0xff; 4096 + 300];
        data.fill(&mut buffer);
        let tail = &buffer[4096..];
        assert!(tail[..150].iter().any(|byte| *byte != 0));
        assert!(tail[150..].iter().all(|byte| *byte == 0));
    }
}
