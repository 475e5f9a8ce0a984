//! Sectors in a verified block. Unless the data is a pattern, every sector ends with a stamp that
//! contains the write number and the offset, so sectors from different writes differ.

use crate::load::data::stamp;

pub(crate) const SECTOR: usize = 512;
/// Size of a stamp in bytes. The stamp is at the end of its sector.
const STAMP: usize = 16;
/// Largest valid offset in a stamp. Data with a larger value is not a stamp.
const MAX_OFFSET: u64 = 1 << 53;
/// Maximum number of differing bits in a damaged stamp. If more bits differ, the data is not a
/// stamp.
pub(crate) const DAMAGED_BITS: u32 = 16;

/// Stamps the sectors.
#[inline]
pub(crate) fn stamp(block: &mut [u8], offset: u64, number: u64) {
    let mut at = offset;
    for sector in block.chunks_exact_mut(SECTOR) {
        let words = stamp::words(at, number);
        sector[SECTOR - STAMP..].copy_from_slice(words.as_flattened());
        at += SECTOR as u64;
    }
}

/// What a sector contains.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sector {
    Zero,
    /// Data from a write, identified by its stamp.
    Written {
        number: u64,
        offset: u64,
    },
    Other,
}

impl Sector {
    /// `offset`: where the sector was read.
    pub(crate) fn read(sector: &[u8], offset: u64) -> Self {
        if sector.iter().all(|byte| *byte == 0) {
            return Self::Zero;
        }
        let (found, number) = stamp::parse(&stamp_of(sector));
        let is_stamp = found < MAX_OFFSET && found % SECTOR as u64 == offset % SECTOR as u64;
        if is_stamp {
            Self::Written {
                number,
                offset: found,
            }
        } else {
            Self::Other
        }
    }
}

/// Whether a sector contains this write's data, with some flipped bits in the stamp.
pub(crate) fn is_damaged_stamp(sector: &[u8], offset: u64, number: u64) -> bool {
    let expected = stamp::words(offset, number);
    let pairs = stamp_of(sector).into_iter().zip(expected);
    let bits: u32 = pairs
        .flat_map(|(found, expected)| found.into_iter().zip(expected))
        .map(|(found, expected)| (found ^ expected).count_ones())
        .sum();
    bits <= DAMAGED_BITS
}

fn stamp_of(sector: &[u8]) -> [[u8; 8]; 2] {
    let stamp = &sector[SECTOR - STAMP..];
    [0, 8].map(|at| std::array::from_fn(|index| stamp[at + index]))
}
