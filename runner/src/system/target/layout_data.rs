//! What laid-out files hold: pseudo-random data of which no sector is zero or like another, so that no device can
//! shorten it. One random chunk is made once and each sector stamped with its place: as fast as memory.

use crate::system::target::CHUNK_BYTES;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The smallest sector there is, in bytes.
const SECTOR_BYTES: usize = 512;
/// Odd, so that its multiples are all different: 2^64 / golden ratio (Knuth, TAOCP 6.4).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The data of a layout.
pub struct LayoutData {
    base: Vec<u8>,
}

impl LayoutData {
    /// The same data for the same seed.
    pub fn new(seed: u64) -> Self {
        let mut base = vec![0; CHUNK_BYTES];
        StdRng::seed_from_u64(seed).fill_bytes(&mut base);
        Self { base }
    }

    /// Fills `buffer` (at most 1 MiB) with the data of a file from byte `offset` on.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.base[..buffer.len()]);
        for (number, sector) in
            (offset / SECTOR_BYTES as u64 + 1..).zip(buffer.chunks_exact_mut(SECTOR_BYTES))
        {
            sector[..8].copy_from_slice(&number.wrapping_mul(SPREAD).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_sector_is_zero_or_like_another() {
        let stamp = LayoutData::new(7);
        let mut sectors = HashSet::new();
        for chunk in 0..3 {
            let mut buffer = vec![0; CHUNK_BYTES];
            stamp.fill(chunk * CHUNK_BYTES as u64, &mut buffer);
            for sector in buffer.chunks(SECTOR_BYTES) {
                assert!(sector.iter().any(|&byte| byte != 0) && sectors.insert(sector.to_vec()));
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_data() {
        let fill = |seed| {
            let mut buffer = vec![0; 1000];
            LayoutData::new(seed).fill(4096, &mut buffer);
            buffer
        };
        assert_eq!(fill(1), fill(1));
        assert_ne!(fill(1), fill(2));
    }
}
