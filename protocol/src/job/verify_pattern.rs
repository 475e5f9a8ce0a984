//! The `verify_pattern` option: bytes that are repeated in each verified block, with the offset of
//! the block at each `%o`.

use crate::job::{
    buffer_pattern::{bytes_schema, parse_bytes},
    range::ValueRange,
    value::FioValue,
    value_schema::ValueSchema,
};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Size of an offset.
const OFFSET_BYTES: usize = 8;
const OFFSET_FORMAT: &str = "%o";

/// Serialized as text such as `0xff%o0x00`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct VerifyPattern {
    /// At least one byte; zeros in place of each offset.
    bytes: Vec<u8>,
    /// Positions of the offsets in `bytes`.
    offsets: Vec<usize>,
}

impl VerifyPattern {
    /// Length in bytes, at least 1.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    pub fn has_offsets(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// Fills a block at this offset of the target. Offsets are little-endian, as in fio (verify.c,
    /// `paste_blockoff`).
    pub fn fill(&self, block: &mut [u8], offset: u64) {
        for chunk in block.chunks_mut(self.bytes.len()) {
            chunk.copy_from_slice(&self.bytes[..chunk.len()]);
            let length = chunk.len();
            for &at in self.offsets.iter().filter(|at| **at < length) {
                let end = length.min(at + OFFSET_BYTES);
                chunk[at..end].copy_from_slice(&offset.to_le_bytes()[..end - at]);
            }
        }
    }

    /// The offset that a block with this pattern was written to; `None` if the pattern has no `%o`
    /// or the block is too short.
    pub fn offset_in(&self, block: &[u8]) -> Option<u64> {
        let at = *self.offsets.first()?;
        let bytes = block.get(at..at + OFFSET_BYTES)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }
}

impl From<VerifyPattern> for String {
    fn from(pattern: VerifyPattern) -> Self {
        let mut text = Self::new();
        let mut at = 0;
        while at < pattern.bytes.len() {
            if pattern.offsets.contains(&at) {
                text.push_str(OFFSET_FORMAT);
                at += OFFSET_BYTES;
                continue;
            }
            if text.is_empty() || text.ends_with(OFFSET_FORMAT) {
                text.push_str("0x");
            }
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{:02x}", pattern.bytes[at]);
            at += 1;
        }
        text
    }
}

impl TryFrom<String> for VerifyPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl FioValue for VerifyPattern {
    const KIND: &'static str = "bytes";

    fn parse(text: &str) -> Result<Self, String> {
        let mut offsets = Vec::new();
        let bytes = parse_bytes(text, |rest, bytes| {
            let rest = rest.strip_prefix(OFFSET_FORMAT)?;
            offsets.push(bytes.len());
            bytes.extend([0; OFFSET_BYTES]);
            Some(rest)
        })?;
        Ok(Self { bytes, offsets })
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        bytes_schema(&format!("|{OFFSET_FORMAT}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, length: usize, offset: u64) -> Vec<u8> {
        let mut block = vec![0xee; length];
        VerifyPattern::parse(text)
            .expect("a pattern")
            .fill(&mut block, offset);
        block
    }

    #[test]
    fn blocks_repeat_the_pattern_with_their_offset() {
        assert_eq!(filled("0xabcd", 5, 7), [0xab, 0xcd, 0xab, 0xcd, 0xab]);
        let chunk = [0xff, 0, 0x10, 0, 0, 0, 0, 0, 0, b'a'];
        let expected = [&chunk[..], &chunk[..], &chunk[..3]].concat();
        assert_eq!(filled("0xff%o\"a\"", 23, 4096), expected);
        assert_eq!(filled("%o", 8, 4096), 4096_u64.to_le_bytes());
    }

    #[test]
    fn finds_the_offset_in_a_block() {
        let pattern = VerifyPattern::parse("0xff%o").unwrap();
        assert_eq!(pattern.offset_in(&filled("0xff%o", 512, 8192)), Some(8192));
        assert_eq!(
            VerifyPattern::parse("0xff").unwrap().offset_in(&[0; 9]),
            None
        );
        assert_eq!(pattern.offset_in(&[0xff; 5]), None);
    }

    #[test]
    fn patterns_are_serialized_as_text() {
        for (text, serialized) in [
            ("\"a\"0x2", "0x6102"),
            ("0xff%o\"abcd\"-12", "0xff%o0x61626364f4ffffff"),
            ("%o%o", "%o%o"),
        ] {
            let pattern = VerifyPattern::parse(text).unwrap();
            assert_eq!(String::from(pattern.clone()), serialized);
            assert_eq!(VerifyPattern::parse(serialized), Ok(pattern));
        }
        for invalid in ["", "%", "%x", "0x%o", "'/etc/passwd'", &"%o".repeat(65)] {
            assert!(VerifyPattern::parse(invalid).is_err(), "{invalid}");
        }
    }
}
