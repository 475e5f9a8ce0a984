//! Header of a verified block, as written by fio 3.33 to 3.40 (`struct verify_header` in verify.h).
//! All fields are little-endian, as fio writes them on little-endian hosts.
//!
//! ```text
//!  0 u16 magic      8 u64 seed        24 u32 time_sec   32 u16 thread    36 u32 crc of bytes 0..36
//!  2 u16 type      16 u64 offset      28 u32 time_nsec  34 u16 numberio  40 checksum of the data
//!  4 u32 length
//! ```
//!
//! fio 3.41 moved some fields, and marks this with a version in byte 2. Such headers are read but
//! never written.

use crate::load::verify::digest::{self, checksum, crc32c};
use leadline_protocol::job::verify_method::VerifyMethod as Method;

const MAGIC: u16 = 0xacca;
/// `VERIFY_HEADER_VERSION`, in the byte that contains the type in older headers.
const VERSION_2025: u8 = 0x81;

/// Methods and their numbers in the header. fio versions before 3.0 had a separate number for
/// accelerated CRC32C.
const TYPES: &[(u8, Method)] = &[
    (2, Method::Md5),
    (3, Method::Crc64),
    (4, Method::Crc32),
    (5, Method::Crc32c),
    (6, Method::Crc32c),
    (7, Method::Crc16),
    (8, Method::Crc7),
    (9, Method::Sha256),
    (10, Method::Sha512),
    (11, Method::Sha3With224),
    (12, Method::Sha3With256),
    (13, Method::Sha3With384),
    (14, Method::Sha3With512),
    (15, Method::Xxhash),
    (16, Method::Sha1),
    (17, Method::HeaderPattern),
];

/// Field offsets for a header version, in bytes.
struct Layout {
    type_at: usize,
    header_crc_at: usize,
    checksum_at: usize,
}

const CLASSIC: Layout = Layout {
    type_at: 2,
    header_crc_at: 36,
    checksum_at: 40,
};

const LAYOUT_2025: Layout = Layout {
    type_at: 3,
    header_crc_at: 44,
    checksum_at: 48,
};

/// The fields of a valid header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    pub method: Method,
    /// Length of the block in bytes, including the header.
    pub length: u32,
    /// Write number; fio stores the data seed here.
    pub seed: u64,
    /// Offset of the block in the target.
    pub offset: u64,
    checksum_at: usize,
}

impl Header {
    /// `None` if the block does not start with a fio header, or if the header is damaged.
    pub(crate) fn read(block: &[u8]) -> Option<Self> {
        if block.len() < LAYOUT_2025.checksum_at + digest::MAX_BYTES || u16_at(block, 0) != MAGIC {
            return None;
        }
        let layout = match block[2] {
            VERSION_2025 => LAYOUT_2025,
            _ => CLASSIC,
        };
        let crc = crc32c(&block[..layout.header_crc_at]);
        if crc != u32_at(block, layout.header_crc_at) {
            return None;
        }
        let number = block[layout.type_at];
        let (_, method) = TYPES.iter().find(|(found, _)| *found == number)?;
        Some(Self {
            method: *method,
            length: u32_at(block, 4),
            seed: u64_at(block, 8),
            offset: u64_at(block, 16),
            checksum_at: layout.checksum_at,
        })
    }

    /// Offset of the data in the block.
    pub(crate) fn data_at(&self) -> usize {
        self.checksum_at + self.method.checksum_bytes()
    }

    /// Whether the checksum and the length match the block.
    pub(crate) fn matches(&self, block: &[u8]) -> bool {
        let data_at = self.data_at();
        self.length as usize == block.len()
            && digest::matches(
                self.method,
                &block[data_at..],
                &block[self.checksum_at..data_at],
            )
    }
}

/// Writes the header at the start of a block that already contains its data.
#[inline]
pub(crate) fn write(method: Method, block: &mut [u8], offset: u64, seed: u64, worker: u32) {
    let data_at = CLASSIC.checksum_at + method.checksum_bytes();
    let checksum = checksum(method, &block[data_at..]);
    let mut header = [0; CLASSIC.checksum_at];
    header[..2].copy_from_slice(&MAGIC.to_le_bytes());
    header[2] = type_of(method);
    header[4..8].copy_from_slice(&(block.len() as u32).to_le_bytes());
    header[8..16].copy_from_slice(&seed.to_le_bytes());
    header[16..24].copy_from_slice(&offset.to_le_bytes());
    header[32..34].copy_from_slice(&(worker as u16).to_le_bytes());
    header[34..36].copy_from_slice(&(seed as u16).to_le_bytes());
    let crc = crc32c(&header[..CLASSIC.header_crc_at]);
    header[36..40].copy_from_slice(&crc.to_le_bytes());
    block[..CLASSIC.checksum_at].copy_from_slice(&header);
    block[CLASSIC.checksum_at..data_at].copy_from_slice(checksum.as_bytes());
}

/// 0 for methods that have no header.
fn type_of(method: Method) -> u8 {
    let found = TYPES.iter().find(|(_, other)| *other == method);
    found.map_or(0, |(number, _)| *number)
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
