//! fio's sizes, times and percentages, as people write them.
//!
//! fio's own suffixes are kept to the letter, traps included: with its default `kb_base=1024`, `k`/`kb`/`ki` are
//! 1,024 and `kib` is 1,000 (fio parse.c:159-403; seen with fio 3.33). What fio reads as something else than it says
//! (`1.5g` is 1 byte, `10sec` is 10 µs) is an error here.
//! Not here: how numbers are shown (the terminal's in `report`, the browser's in `web/src/model`).

/// Bytes of a number such as `4096`, `4k`, `1g`, `0x1000` or `10kib` (= 10,000 as in fio).
///
/// # Errors
/// One sentence that names what is wrong and how to write it.
pub fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16)
            .map_err(|_| format!("`{text}` is not a hexadecimal number"));
    }
    let (digits, suffix) = split_number(text);
    refuse_fraction(
        text,
        digits,
        "write the whole number with a smaller unit, such as 1536m for 1.5g",
    )?;
    let value: u64 = digits.parse().map_err(|_| {
        format!("`{text}` is not a size: write bytes or a number with k, m, g or t")
    })?;
    value
        .checked_mul(size_factor(suffix).ok_or_else(|| {
            format!("`{suffix}` in `{text}` is not a size unit: use k, m, g, t or p")
        })?)
        .ok_or_else(|| format!("`{text}` is more than 2^64 bytes"))
}

/// A number of bytes as `bytes` reads it, in the largest whole unit, such as `4k`.
pub fn size(bytes: u64) -> String {
    let units = [
        (1 << 40, "t"),
        (1 << 30, "g"),
        (1 << 20, "m"),
        (1 << 10, "k"),
    ];
    match units
        .into_iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
    {
        Some((unit, letter)) => format!("{}{letter}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// Microseconds of a time such as `30s`, `500ms` or `2m`; a bare number counts in `bare_unit_us` (fio: seconds for
/// `runtime`, microseconds for `thinktime`).
///
/// # Errors
/// One sentence that names what is wrong and how to write it.
pub fn microseconds(text: &str, bare_unit_us: u64) -> Result<u64, String> {
    let text = text.trim();
    let (digits, suffix) = split_number(text);
    refuse_fraction(
        text,
        digits,
        "write the whole number with a smaller unit, such as 1500ms for 1.5s",
    )?;
    let value: u64 = digits
        .parse()
        .map_err(|_| format!("`{text}` is not a time: write 30s, 500ms or 2m"))?;
    let factor = match suffix.to_ascii_lowercase().as_str() {
        "" => bare_unit_us,
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        "sec" | "secs" | "second" | "seconds" => {
            return Err(format!(
                "`{text}` would be {digits} µs in fio, which does not know `{suffix}`: write {digits}s"
            ));
        }
        "min" | "mins" | "minute" | "minutes" => {
            return Err(format!(
                "`{text}` would be {digits} µs in fio, which does not know `{suffix}`: write {digits}m"
            ));
        }
        _ => {
            return Err(format!(
                "`{suffix}` in `{text}` is not a time unit: use us, ms, s, m, h or d"
            ));
        }
    };
    value
        .checked_mul(factor)
        .ok_or_else(|| format!("`{text}` is longer than 2^64 µs"))
}

/// A whole percentage from 0 to 100, with or without `%`.
///
/// # Errors
/// One sentence that names what is wrong.
pub fn percent(text: &str) -> Result<u8, String> {
    let digits = text.trim().trim_end_matches('%');
    match digits.parse::<u8>() {
        Ok(value) if value <= 100 => Ok(value),
        _ => Err(format!(
            "`{text}` is not a percentage: write a whole number from 0 to 100"
        )),
    }
}

fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    text.split_at(end)
}

fn refuse_fraction(text: &str, digits: &str, remedy: &str) -> Result<(), String> {
    match digits.split_once('.') {
        Some((whole, _)) => Err(format!(
            "`{text}` has a fraction, which fio would cut to {}: {remedy}",
            if whole.is_empty() { "0" } else { whole }
        )),
        None => Ok(()),
    }
}

/// fio's factor of a size suffix with `kb_base=1024`; `None` when unknown.
fn size_factor(suffix: &str) -> Option<u64> {
    let lower = suffix.to_ascii_lowercase();
    let (letter, rest) = match lower.chars().next() {
        None => return Some(1),
        Some('b') if lower.len() == 1 => return Some(1),
        Some(letter) => (letter, &lower[letter.len_utf8()..]),
    };
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
    fn sizes_are_shown_in_the_largest_whole_unit() {
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
    fn sizes_are_those_of_fio() {
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
    fn sizes_that_fio_misreads_are_refused() {
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
    fn times_are_those_of_fio() {
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
    fn times_that_fio_misreads_are_refused() {
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
    fn percentages_end_at_one_hundred() {
        assert_eq!(percent("70%"), Ok(70));
        assert_eq!(percent("0"), Ok(0));
        assert!(percent("101").is_err());
    }
}
