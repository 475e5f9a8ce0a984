//! Parses sizes, times and percentages in fio's syntax. Output formats are in `format`.
//!
//! Suffixes are exactly as in fio: with its default `kb_base=1024`, `k`, `kb` and `ki` are 1024,
//! and `kib` is 1000 (fio 3.33, parse.c:159-403). Values that fio misreads are rejected: it parses
//! `1.5g` as 1 byte and `10sec` as 10 µs.

const SIZES: [(u64, &str); 4] = [
    (1 << 40, "t"),
    (1 << 30, "g"),
    (1 << 20, "m"),
    (1 << 10, "k"),
];

/// Parses a number of bytes, such as `4096`, `4k`, `1g`, `0x1000` or `10kib` (10,000, as in fio).
///
/// # Errors
/// What is wrong and how to fix it.
pub fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16)
            .map_err(|_| format!("`{text}` is not a hexadecimal number"));
    }
    let (digits, suffix) = split_number(text, "1536m for 1.5g")?;
    let value: u64 = digits
        .parse()
        .map_err(|_| format!("`{text}` is not a size: use bytes or a number with k, m, g or t"))?;
    let factor = size_factor(suffix)
        .ok_or_else(|| format!("`{suffix}` in `{text}` is not a size unit: use k, m, g, t or p"))?;
    value
        .checked_mul(factor)
        .ok_or_else(|| format!("`{text}` is too large: the limit is 2^64 bytes"))
}

/// Formats a size in the syntax of [`bytes`], with the largest exact unit, such as `4k`.
pub fn size(bytes: u64) -> String {
    let is_exact = |(unit, _): &&(u64, &str)| bytes >= *unit && bytes.is_multiple_of(*unit);
    match SIZES.iter().find(is_exact) {
        Some((unit, suffix)) => format!("{}{suffix}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// Parses a time such as `30s`, `500ms` or `2m` into microseconds. `bare_unit_us` is the unit of a
/// bare number (fio: seconds for `runtime`, microseconds for `thinktime`).
///
/// # Errors
/// What is wrong and how to fix it.
pub fn microseconds(text: &str, bare_unit_us: u64) -> Result<u64, String> {
    let text = text.trim();
    let (digits, suffix) = split_number(text, "1500ms for 1.5s")?;
    let value: u64 = digits
        .parse()
        .map_err(|_| format!("`{text}` is not a time: use 30s, 500ms or 2m"))?;
    let misread = |unit| {
        Err(format!(
            "`{suffix}` in `{text}` is not a fio time unit; fio would parse it as {digits} µs: write {digits}{unit}"
        ))
    };
    let factor = match suffix.to_ascii_lowercase().as_str() {
        "" => bare_unit_us,
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        "sec" | "secs" | "second" | "seconds" => return misread("s"),
        "min" | "mins" | "minute" | "minutes" => return misread("m"),
        _ => {
            return Err(format!(
                "`{suffix}` in `{text}` is not a time unit: use us, ms, s, m, h or d"
            ));
        }
    };
    value
        .checked_mul(factor)
        .ok_or_else(|| format!("`{text}` is too long: the limit is 2^64 µs"))
}

/// Parses an integer from 0 to 100, with or without `%`.
///
/// # Errors
/// What is wrong and how to fix it.
pub fn percent(text: &str) -> Result<u8, String> {
    let value = text.trim().trim_end_matches('%').parse().ok();
    value
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| format!("`{text}` is not a percentage: use an integer from 0 to 100"))
}

/// Splits off the unit and rejects fractions. `example` shows an alternative.
fn split_number<'a>(text: &'a str, example: &str) -> Result<(&'a str, &'a str), String> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    if digits.contains('.') {
        return Err(format!(
            "`{text}` has a fraction, which fio truncates: use a smaller unit, such as {example}"
        ));
    }
    Ok((digits, suffix))
}

/// Returns the factor for a size suffix with `kb_base=1024`.
fn size_factor(suffix: &str) -> Option<u64> {
    let suffix = suffix.to_ascii_lowercase();
    if suffix.is_empty() || suffix == "b" {
        return Some(1);
    }
    let (letter, rest) = suffix.split_at_checked(1)?;
    let power = "kmgtp".find(letter)? as u32 + 1;
    match rest {
        "" | "b" | "i" => 1024u64.checked_pow(power),
        "ib" => 1000u64.checked_pow(power),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_sizes_in_the_largest_exact_unit() {
        for (number, text) in [
            (512, "512"),
            (4096, "4k"),
            (1 << 20, "1m"),
            (3000, "3000"),
            (6 << 30, "6g"),
            (1536 << 10, "1536k"),
            (0, "0"),
        ] {
            assert_eq!(size(number), text);
            assert_eq!(bytes(text), Ok(number));
        }
    }

    #[test]
    fn parses_sizes_like_fio() {
        for (text, want) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("4kib", 4000),
            ("1m", 1 << 20),
            ("1mib", 1_000_000),
            ("1g", 1 << 30),
            ("2t", 2 << 40),
            ("0x1000", 4096),
            ("512b", 512),
            (" 8k ", 8192),
        ] {
            assert_eq!(bytes(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn rejects_sizes_that_fio_misreads() {
        for (text, part) in [
            ("1.5g", "1536m"),
            ("", "not a size"),
            ("4x", "not a size unit"),
            ("k", "not a size"),
            ("99999999999999p", "2^64"),
        ] {
            let error = bytes(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn parses_times_like_fio() {
        for (text, want) in [
            ("30", 30_000_000),
            ("30s", 30_000_000),
            ("500ms", 500_000),
            ("7us", 7),
            ("2m", 120_000_000),
            ("1h", 3_600_000_000),
        ] {
            assert_eq!(microseconds(text, 1_000_000), Ok(want), "{text}");
        }
        assert_eq!(microseconds("30", 1), Ok(30));
    }

    #[test]
    fn rejects_times_that_fio_misreads() {
        for (text, part) in [
            ("10sec", "write 10s"),
            ("5min", "write 5m"),
            ("1.5s", "1500ms"),
            ("10x", "not a time unit"),
            ("soon", "not a time"),
        ] {
            let error = microseconds(text, 1_000_000).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn rejects_percentages_above_100() {
        assert_eq!(percent("70%"), Ok(70));
        assert_eq!(percent("0"), Ok(0));
        assert!(percent("101").is_err());
    }
}
