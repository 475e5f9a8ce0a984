//! The `buffer_pattern` option: bytes that are repeated in write buffers.

use crate::job::{
    range::{I32, ValueRange},
    value::FioValue,
    value_schema::ValueSchema,
};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use utoipa::ToSchema;

/// Maximum length in bytes, as in fio (MAX_PATTERN_SIZE).
const MAX_BYTES: usize = 512;

/// At least one byte. Serialized as a hexadecimal number such as `0xdeadbeef`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String)]
pub struct BufferPattern(pub Vec<u8>);

impl From<BufferPattern> for String {
    fn from(pattern: BufferPattern) -> Self {
        let mut text = Self::from("0x");
        for byte in pattern.0 {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

impl TryFrom<String> for BufferPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl FioValue for BufferPattern {
    const KIND: &'static str = "bytes";

    /// Accepts a sequence of strings in double quotes, hexadecimal numbers and decimal numbers, as
    /// in fio (lib/pattern.c).
    fn parse(text: &str) -> Result<Self, String> {
        parse_bytes(text, |_, _| None).map(Self)
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        bytes_schema("")
    }
}

/// A hexadecimal number, a string, or up to 64 parts of up to 8 bytes: strings, numbers, and
/// matches of `part`. A positive decimal number can only be the first part.
pub(crate) fn bytes_schema(part: &str) -> ValueSchema {
    const HEX: &str = "0[xX][0-9a-fA-F]";
    const LETTER: &str = "[ !#-~]";
    let parts = format!("(\"{LETTER}{{1,8}}\"|{HEX}{{1,16}}|-[0-9]{{1,9}}{part})");
    let text = format!(
        "({HEX}{{1,1024}}|\"{LETTER}{{1,512}}\"|([0-9]{{1,9}})?{parts}{{1,63}}|[0-9]{{1,9}})"
    );
    ValueSchema::integers(text, I32)
}

/// `format` parses a format such as `%o` at the start of the text: it appends its bytes and returns
/// the rest, or `None` if the text does not start with a format.
///
/// # Errors
/// Returns what is wrong with the text.
pub(crate) fn parse_bytes(
    text: &str,
    mut format: impl for<'a> FnMut(&'a str, &mut Vec<u8>) -> Option<&'a str>,
) -> Result<Vec<u8>, String> {
    let mut rest = text.trim();
    let mut bytes = Vec::new();
    while !rest.is_empty() {
        rest = if let Some(rest) = format(rest, &mut bytes) {
            rest
        } else if let Some(string) = rest.strip_prefix('"') {
            let (string, rest) = string
                .split_once('"')
                .ok_or_else(|| format!("`{text}` has no closing quote"))?;
            bytes.extend(string.bytes());
            rest
        } else if rest.starts_with('\'') {
            return Err("a pattern file in single quotes is not supported".into());
        } else {
            number(rest, &mut bytes).ok_or_else(|| {
                format!("`{text}` is not a pattern such as 0xdeadbeef, -12 or \"text\"")
            })?
        };
    }
    if bytes.is_empty() || bytes.len() > MAX_BYTES {
        return Err(format!("a pattern must have 1 to {MAX_BYTES} bytes"));
    }
    Ok(bytes)
}

/// Appends the bytes of the number at the start of the text, and returns the rest.
fn number<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let is_next_hex = |at: usize| text[at..].starts_with("0x") || text[at..].starts_with("0X");
    let end_of = |is_digit: fn(&char) -> bool, begin: usize| {
        let digits = text[begin..].char_indices();
        let mut ends = digits.map(|(at, digit)| (begin + at, digit));
        let end = ends.find(|(at, digit)| !is_digit(digit) || (*at > begin && is_next_hex(*at)));
        end.map_or(text.len(), |(at, _)| at)
    };
    if is_next_hex(0) {
        let end = end_of(char::is_ascii_hexdigit, 2);
        let digits = &text[2..end];
        let (first, pairs) = digits.split_at(digits.len() % 2);
        let all = [first].into_iter().filter(|first| !first.is_empty());
        let pairs = (0..pairs.len()).step_by(2).map(|at| &pairs[at..at + 2]);
        for digits in all.chain(pairs) {
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        }
        return (end > 2).then(|| &text[end..]);
    }
    let begin = usize::from(text.starts_with('-'));
    let end = end_of(char::is_ascii_digit, begin);
    let value: i32 = text[..end].parse().ok()?;
    // Little-endian, without leading zeros.
    let value = value.to_le_bytes();
    let len = value.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
    bytes.extend(&value[..len]);
    Some(&text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_the_examples_in_fio() {
        let parse = |text: &str| BufferPattern::parse(text).ok().map(|pattern| pattern.0);
        for (text, bytes) in [
            ("\"abcd\"", &b"abcd"[..]),
            ("-1024", &[0x00, 0xfc, 0xff, 0xff]),
            ("66", &[0x42]),
            ("0", &[0]),
            ("0xFF0X1", &[0xff, 0x01]),
            ("\"123\"0xFFeeCC", &[0x31, 0x32, 0x33, 0xff, 0xee, 0xcc]),
            ("-100xab\"1\"", &[0xf6, 0xff, 0xff, 0xff, 0xab, 0x31]),
            ("0xabc", &[0x0a, 0xbc]),
        ] {
            assert_eq!(parse(text).as_deref(), Some(bytes), "{text}");
        }
        for invalid in [
            "",
            "\"abc",
            "'/etc/passwd'",
            "%o",
            "0x",
            "abc",
            "99999999999",
            "\"\"",
        ] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
        assert_eq!(parse(&format!("0x{}", "ab".repeat(513))), None);
    }

    #[test]
    fn patterns_are_serialized_as_numbers() {
        let pattern = BufferPattern::parse("\"a\"0x2").unwrap();
        let json = serde_json::to_string(&pattern).unwrap();
        assert_eq!(json, "\"0x6102\"");
        assert_eq!(
            serde_json::from_str::<BufferPattern>(&json).unwrap(),
            pattern
        );
    }
}
