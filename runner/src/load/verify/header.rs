//! Header of a verified block, as written by fio 3.33 to 3.40 (`struct verify_header` and `struct
//! vhdr_crc32` in verify.h). All fields are little-endian, as on every host that fio and Leadline
//! support.
//!
//! ```text
//!  0 u16 magic      8 u64 seed        24 u32 time_sec   32 u16 thread    36 u32 crc of bytes 0..36
//!  2 u16 type      16 u64 offset      28 u32 time_nsec  34 u16 numberio  40 u32 crc of the data
//!  4 u32 length
//! ```
//!
//! fio 3.41 moved some fields, and marks this with a version in byte 2. Such headers are read but
//! never written.

const MAGIC: u16 = 0xacca;
/// `VERIFY_CRC32C`.
const TYPE_CRC32C: u8 = 5;
/// `VERIFY_HEADER_VERSION`, in the byte that contains the type in older headers.
const VERSION_2025: u8 = 0x81;

/// Field offsets of a header version, in bytes.
struct Layout {
    type_at: usize,
    header_crc_at: usize,
    data_crc_at: usize,
}

const CLASSIC: Layout = Layout {
    type_at: 2,
    header_crc_at: 36,
    data_crc_at: 40,
};

const LAYOUT_2025: Layout = Layout {
    type_at: 3,
    header_crc_at: 44,
    data_crc_at: 48,
};

/// Size of the header that Leadline writes, including the data checksum.
pub(crate) const HEADER_BYTES: usize = CLASSIC.data_crc_at + 4;

/// The fields of a valid header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    /// Length of the block in bytes, including the header.
    pub length: u32,
    /// Write number; fio stores the data seed here.
    pub seed: u64,
    /// Offset of the block in the target.
    pub offset: u64,
    data_crc: u32,
    /// Offset of the data in the block.
    data_at: usize,
}

impl Header {
    /// `None` if the block has no fio header, or a damaged one.
    pub(crate) fn read(block: &[u8]) -> Option<Self> {
        if block.len() < LAYOUT_2025.data_crc_at + 4 || u16_at(block, 0) != MAGIC {
            return None;
        }
        let layout = match block[2] {
            VERSION_2025 => LAYOUT_2025,
            _ => CLASSIC,
        };
        let crc = checksum(&block[..layout.header_crc_at]);
        if block[layout.type_at] != TYPE_CRC32C || crc != u32_at(block, layout.header_crc_at) {
            return None;
        }
        Some(Self {
            length: u32_at(block, 4),
            seed: u64_at(block, 8),
            offset: u64_at(block, 16),
            data_crc: u32_at(block, layout.data_crc_at),
            data_at: layout.data_crc_at + 4,
        })
    }

    /// Whether the checksum and the length match the block.
    pub(crate) fn matches(&self, block: &[u8]) -> bool {
        self.length as usize == block.len() && checksum(&block[self.data_at..]) == self.data_crc
    }
}

/// fio omits the final inversion of CRC32C.
fn checksum(bytes: &[u8]) -> u32 {
    !crc32c::crc32c(bytes)
}

/// Writes the header at the start of a block that already contains its data.
#[inline]
pub(crate) fn write(block: &mut [u8], offset: u64, seed: u64, worker: u32) {
    let data_crc = checksum(&block[HEADER_BYTES..]);
    let mut header = [0; HEADER_BYTES];
    header[..2].copy_from_slice(&MAGIC.to_le_bytes());
    header[2] = TYPE_CRC32C;
    header[4..8].copy_from_slice(&(block.len() as u32).to_le_bytes());
    header[8..16].copy_from_slice(&seed.to_le_bytes());
    header[16..24].copy_from_slice(&offset.to_le_bytes());
    header[32..34].copy_from_slice(&(worker as u16).to_le_bytes());
    header[34..36].copy_from_slice(&(seed as u16).to_le_bytes());
    let crc = checksum(&header[..CLASSIC.header_crc_at]);
    header[36..40].copy_from_slice(&crc.to_le_bytes());
    header[40..44].copy_from_slice(&data_crc.to_le_bytes());
    block[..HEADER_BYTES].copy_from_slice(&header);
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}
