//! Checksums of verified blocks, stored after the header exactly as in fio (crc/ and verify.c):
//! some are in the host's byte order, and two are not the standard digest.

use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, CRC_64_REDIS, Crc, Table};
use leadline_protocol::job::verify_method::VerifyMethod as Method;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha512, block_api::compress256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use twox_hash::XxHash32;

/// Length of the longest checksum.
pub(crate) const MAX_BYTES: usize = SHA512_BYTES;
const SHA256_BYTES: usize = Method::Sha256.checksum_bytes();
const SHA512_BYTES: usize = Method::Sha512.checksum_bytes();
/// Seed of XXH32 in fio.
const XXH32_SEED: u32 = 1;

/// The cksum(1) CRC, but without the length and the final inversion.
const CRC_32_FIO: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};

static CRC7: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&CRC_7_MMC);
static CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
static CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_FIO);
static CRC64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// A checksum that may follow fio's header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Checksum {
    bytes: [u8; MAX_BYTES],
    length: usize,
}

impl Checksum {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    #[inline]
    fn of(bytes: &[u8]) -> Self {
        let mut checksum = Self {
            bytes: [0; MAX_BYTES],
            length: bytes.len(),
        };
        checksum.bytes[..bytes.len()].copy_from_slice(bytes);
        checksum
    }
}

#[inline]
pub(crate) fn checksum(method: Method, data: &[u8]) -> Checksum {
    match method {
        Method::Crc32c => Checksum::of(&crc32c(data).to_le_bytes()),
        _ => other_checksum(method, data),
    }
}

fn other_checksum(method: Method, data: &[u8]) -> Checksum {
    match method {
        Method::None | Method::HeaderPattern | Method::Pattern => Checksum::of(&[]),
        Method::Crc7 => Checksum::of(&[CRC7.checksum(data)]),
        Method::Crc16 => Checksum::of(&CRC16.checksum(data).to_le_bytes()),
        Method::Crc32 => Checksum::of(&CRC32.checksum(data).to_le_bytes()),
        Method::Crc32c => Checksum::of(&crc32c(data).to_le_bytes()),
        Method::Crc64 => Checksum::of(&CRC64.checksum(data).to_le_bytes()),
        Method::Xxhash => Checksum::of(&XxHash32::oneshot(XXH32_SEED, data).to_le_bytes()),
        Method::Md5 => Checksum::of(&Md5::digest(data)),
        Method::Sha1 => Checksum::of(&sha1(data)),
        Method::Sha256 => Checksum::of(&sha256(data)),
        Method::Sha512 => Checksum::of(&sha512(data)),
        Method::Sha3With224 => Checksum::of(&Sha3_224::digest(data)),
        Method::Sha3With256 => Checksum::of(&Sha3_256::digest(data)),
        Method::Sha3With384 => Checksum::of(&Sha3_384::digest(data)),
        Method::Sha3With512 => Checksum::of(&Sha3_512::digest(data)),
    }
}

/// Whether this is the data's checksum as written by any version of fio.
pub(crate) fn matches(method: Method, data: &[u8], stored: &[u8]) -> bool {
    checksum(method, data).as_bytes() == stored
        || (method == Method::Sha512 && sha512_before_3_39(data) == *stored)
}

/// fio omits the final inversion of CRC32C.
#[inline]
pub(crate) fn crc32c(data: &[u8]) -> u32 {
    !crc32c::crc32c(data)
}

/// fio stores the words in the host's byte order.
fn sha1(data: &[u8]) -> [u8; 20] {
    let mut digest: [u8; 20] = Sha1::digest(data).into();
    digest
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .for_each(|word| word.reverse());
    digest
}

/// fio appends the length in the host's byte order, and stores the last padded block, whose first
/// bytes are replaced by the low byte of each word of the digest (crc/sha256.c).
fn sha256(data: &[u8]) -> [u8; SHA256_BYTES] {
    const BLOCK: usize = 64;
    const LENGTH_AT: usize = BLOCK - 8;
    let mut state = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let (blocks, rest) = data.as_chunks::<BLOCK>();
    compress256(&mut state, blocks);
    let mut padded = [[0; BLOCK]; 2];
    padded[0][..rest.len()].copy_from_slice(rest);
    padded[0][rest.len()] = 0x80;
    let last = usize::from(rest.len() >= LENGTH_AT);
    let bits = data.len() as u64 * 8;
    padded[last][LENGTH_AT..].copy_from_slice(&bits.to_le_bytes());
    compress256(&mut state, &padded[..=last]);
    let mut stored = padded[last];
    for (byte, word) in stored.iter_mut().zip(state) {
        *byte = word as u8;
    }
    stored
}

/// The digest, followed by the second half of the last padded block (crc/sha512.c since fio 3.39).
fn sha512(data: &[u8]) -> [u8; SHA512_BYTES] {
    const BLOCK: usize = SHA512_BYTES;
    const LENGTH_AT: usize = BLOCK - 16;
    let (_, rest) = data.as_chunks::<BLOCK>();
    let mut stored = [0; SHA512_BYTES];
    if rest.len() < LENGTH_AT {
        stored[..rest.len()].copy_from_slice(rest);
        stored[rest.len()] = 0x80;
    }
    let bits = data.len() as u128 * 8;
    stored[LENGTH_AT..].copy_from_slice(&bits.to_be_bytes());
    stored[..64].copy_from_slice(&Sha512::digest(data));
    stored
}

/// Earlier versions do not compute the digest: they store the first bytes of the data, partly
/// overwritten by the last ones.
fn sha512_before_3_39(data: &[u8]) -> [u8; SHA512_BYTES] {
    let (blocks, rest) = data.as_chunks::<SHA512_BYTES>();
    let mut stored = blocks.first().copied().unwrap_or([0; SHA512_BYTES]);
    stored[..rest.len()].copy_from_slice(rest);
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn standard_checksums_match_reference_values() {
        let data = b"123456789";
        for (method, expected) in [
            (Method::Crc7, "75"),
            (Method::Crc16, "3dbb"),
            (Method::Crc32, "7f89a189"),
            (Method::Md5, "25f9e794323b453885f5181f1b624d0b"),
            // The words of f7c3bc1d808e04732adf679965ccc34ca7ae3441 in the host's byte order.
            (Method::Sha1, "1dbcc3f773048e809967df2a4cc3cc654134aea7"),
            (
                Method::Sha3With224,
                "5795c3d628fd638c9835a4c79a55809f265068c88729a1a3fcdf8522",
            ),
            (Method::HeaderPattern, ""),
        ] {
            assert_eq!(
                hexadecimal(checksum(method, data).as_bytes()),
                expected,
                "{method:?}"
            );
        }
    }

    #[test]
    fn checksums_have_the_length_of_their_method() {
        // Lengths around those at which padding requires another block.
        for length in (344..480).chain([4052]) {
            let data: Vec<u8> = (0..length)
                .map(|index| (index * 7 + index / 256) as u8)
                .collect();
            for method in Method::ALL {
                let found = checksum(method, &data);
                assert_eq!(
                    found.as_bytes().len(),
                    method.checksum_bytes(),
                    "{method:?}"
                );
                assert!(matches(method, &data, found.as_bytes()));
            }
            assert!(matches(Method::Sha512, &data, &sha512_before_3_39(&data)));
        }
    }
}
