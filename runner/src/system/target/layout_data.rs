//! Contents of laid-out files: pseudo-random data in which no sector is zero or equal to another
//! one, so no device can compress or deduplicate it. All chunks are copies of one random chunk,
//! except that each sector begins with a hash of its number and one of the path.

use crate::system::target::CHUNK_BYTES;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Smallest sector size of any device.
const SECTOR_BYTES: usize = 512;
/// 2^64 / golden ratio (Knuth, TAOCP 6.4). Odd, so all multiples differ.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

pub struct LayoutData {
    chunk: Vec<u8>,
}

impl LayoutData {
    pub fn new(seed: u64) -> Self {
        let mut chunk = vec![0; CHUNK_BYTES];
        StdRng::seed_from_u64(seed).fill_bytes(&mut chunk);
        Self { chunk }
    }

    /// Fills `buffer` (at most 1 MiB) with the file contents that start at byte `offset`.
    pub fn fill(&self, path: &str, offset: u64, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.chunk[..buffer.len()]);
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        let file = hasher.finish().to_le_bytes();
        let first = offset / SECTOR_BYTES as u64 + 1;
        for (number, sector) in (first..).zip(buffer.chunks_exact_mut(SECTOR_BYTES)) {
            sector[..8].copy_from_slice(&number.wrapping_mul(GOLDEN_RATIO).to_le_bytes());
            sector[8..16].copy_from_slice(&file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_sector_is_zero_or_repeated() {
        let data = LayoutData::new(7);
        let mut sectors = HashSet::new();
        for (path, chunk) in [("a", 0), ("a", 1), ("a", 2), ("b", 0)] {
            let mut buffer = vec![0; CHUNK_BYTES];
            data.fill(path, chunk * CHUNK_BYTES as u64, &mut buffer);
            for sector in buffer.chunks(SECTOR_BYTES) {
                assert!(sector.iter().any(|&byte| byte != 0) && sectors.insert(sector.to_vec()));
            }
        }
    }

    #[test]
    fn same_seed_gives_same_data() {
        let fill = |seed| {
            let mut buffer = vec![0; 1000];
            LayoutData::new(seed).fill("a", 4096, &mut buffer);
            buffer
        };
        assert_eq!(fill(1), fill(1));
        assert_ne!(fill(1), fill(2));
    }
}
