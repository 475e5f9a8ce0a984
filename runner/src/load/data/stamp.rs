//! Stamps that make every written block unique, like fio's `scramble_buffers`: two words in every
//! sector, computed from the offset and a counter. A deduplicating device stores every block, and a
//! lost overwrite can be detected.

/// Distance between stamps in bytes.
const SECTOR: usize = 512;
const WORD: usize = size_of::<u64>();
/// Odd multipliers with irregular bits, so that stamps do not compress.
const OFFSET_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Inverse of `OFFSET_MULTIPLIER` modulo 2^64.
const OFFSET_INVERSE: u64 = 0xf1de_83e1_9937_733d;
const WRITE_MULTIPLIER: u64 = 0xd6e8_feb8_6659_fd93;
const WORKER_STRIDE: u64 = 0xda94_2042_e4dd_58b5;

/// Generates one worker's stamps.
#[derive(Clone, Debug)]
pub(crate) struct Stamps {
    /// Write number, unique to each write.
    write: u64,
}

impl Stamps {
    /// `run` differs between runs, so a run does not repeat an earlier run's data.
    pub(crate) fn new(run: u64, worker: u32) -> Self {
        let worker = WORKER_STRIDE.wrapping_mul(u64::from(worker));
        Self {
            write: run.wrapping_add(worker).wrapping_mul(WRITE_MULTIPLIER),
        }
    }

    /// Stamps the next write's data. Stamps that extend beyond the data are truncated.
    #[inline]
    pub(crate) fn apply(&mut self, offset: u64, data: &mut [u8]) {
        self.write = self.write.wrapping_add(WRITE_MULTIPLIER);
        let mut at = offset;
        let mut sectors = data.chunks_exact_mut(SECTOR);
        for sector in &mut sectors {
            let [first, second] = words(at, self.write);
            sector[..WORD].copy_from_slice(&first);
            sector[SECTOR / 2..SECTOR / 2 + WORD].copy_from_slice(&second);
            at += SECTOR as u64;
        }
        let rest = sectors.into_remainder();
        for (byte, stamp) in rest.iter_mut().zip(words(at, self.write).as_flattened()) {
            *byte = *stamp;
        }
    }
}

/// A sector's stamp; `parse` is the inverse.
#[inline]
pub(crate) fn words(offset: u64, write: u64) -> [[u8; WORD]; 2] {
    let first = offset.wrapping_mul(OFFSET_MULTIPLIER).wrapping_add(write);
    let second = first.rotate_left(32) ^ write.wrapping_mul(OFFSET_MULTIPLIER);
    [first.to_le_bytes(), second.to_le_bytes()]
}

/// The offset and write number in a stamp. Data that is not a stamp yields arbitrary values.
pub(crate) fn parse(words: &[[u8; WORD]; 2]) -> (u64, u64) {
    let [first, second] = words.map(u64::from_le_bytes);
    let write = (second ^ first.rotate_left(32)).wrapping_mul(OFFSET_INVERSE);
    let offset = first.wrapping_sub(write).wrapping_mul(OFFSET_INVERSE);
    (offset, write)
}

#[cfg(test)]
mod tests {
    use super::{Stamps, parse, words};
    use std::collections::HashSet;

    #[test]
    fn sectors_differ_between_offsets_writes_workers_and_runs() {
        let mut sectors = HashSet::new();
        for run in [1, 2] {
            for worker in [0, 1] {
                let mut stamps = Stamps::new(run, worker);
                for write in 0..64 {
                    let mut data = [0; 4096];
                    stamps.apply(write % 8 * 4096, &mut data);
                    sectors.extend(data.chunks(512).map(<[u8]>::to_vec));
                }
            }
        }
        assert_eq!(sectors.len(), 2 * 2 * 64 * 8);
    }

    #[test]
    fn data_of_any_length_can_be_stamped() {
        for length in [1, 7, 511, 513, 1000] {
            let mut stamps = Stamps::new(1, 0);
            let mut data = vec![0; length];
            stamps.apply(0, &mut data);
            let first = data.clone();
            stamps.apply(0, &mut data);
            assert_ne!(first, data, "{length}");
        }
    }

    #[test]
    fn stamps_can_be_parsed() {
        for (offset, write) in [(0, 0), (512, 1), (1 << 52, u64::MAX), (4096, 1 << 63)] {
            assert_eq!(parse(&words(offset, write)), (offset, write));
        }
    }
}
