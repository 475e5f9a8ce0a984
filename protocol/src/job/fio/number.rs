//! Parses numbers with units exactly as fio does (parse.c, `str_to_decimal`), and detects numbers
//! whose meaning in fio is unexpected.

use crate::units;

/// A parsed number.
#[derive(Debug, Eq, PartialEq)]
pub struct Number {
    /// Bytes, microseconds, percent or a plain number.
    pub value: i64,
    pub is_percent: bool,
    pub flaw: Option<Flaw>,
}

/// Why fio reads a number differently than its text suggests.
#[derive(Debug, Eq, PartialEq)]
pub enum Flaw {
    /// fio ignores the digits after the decimal point and the unit. Contains the number that was
    /// probably intended.
    Fraction(Option<String>),
    /// `kib` is 1000 bytes, or `ki` is 1000 bytes with `kb_base=1000`.
    DecimalUnit(String),
    /// A unit that fio does not have, such as `sec`: the number is in microseconds. Contains fio's
    /// name of the unit.
    TimeUnit(String),
    /// The unit is ignored.
    UnknownUnit(String),
    /// Spaces before a number with a unit: the unit is ignored.
    LeadingSpace(String),
    /// Does not fit in 64 bits.
    TooLarge,
}

/// Parses a number with a size unit. `None` if fio rejects it.
pub fn bytes(text: &str, kb_base: u64) -> Option<Number> {
    let (value, _) = leading_integer(text)?;
    let suffix = size_suffix(text);
    let (factor, is_percent) = size_factor(suffix, kb_base);
    let product = value.and_then(|value| value.checked_mul(factor));
    let flaw = match product {
        None => Some(Flaw::TooLarge),
        Some(_) => size_flaw(text, suffix, kb_base),
    };
    Some(Number {
        value: product.unwrap_or(i64::MAX),
        is_percent,
        flaw,
    })
}

/// Parses a time in microseconds. `None` if fio rejects it.
pub fn microseconds(text: &str, bare_unit_us: i64) -> Option<Number> {
    let (value, _) = leading_integer(text)?;
    let is_sign_or_digit = |c: char| c.is_ascii_digit() || c == '+' || c == '-';
    let suffix = text.trim_start_matches(is_sign_or_digit);
    let factor = time_factor(suffix, bare_unit_us);
    let product = value.and_then(|value| value.checked_mul(factor));
    let flaw = match product {
        None => Some(Flaw::TooLarge),
        Some(_) => time_flaw(text, suffix),
    };
    Some(Number {
        value: product.unwrap_or(i64::MAX),
        is_percent: false,
        flaw,
    })
}

/// Splits the text as strtoll(3) does: the number at the start (`None` on overflow), and the rest.
fn leading_integer(text: &str) -> Option<(Option<i64>, &str)> {
    let trimmed = text.trim_start();
    let (sign, digits) = match trimmed.strip_prefix(['-', '+']) {
        Some(rest) => (if trimmed.starts_with('-') { -1 } else { 1 }, rest),
        None => (1, trimmed),
    };
    let is_hex = text.contains("0x") || text.contains("0X");
    let (radix, digits) = if is_hex {
        (16, digits.trim_start_matches("0x").trim_start_matches("0X"))
    } else {
        (10, digits)
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    let value = i64::from_str_radix(&digits[..end], radix).ok();
    Some((value.map(|value| value * sign), &digits[end..]))
}

/// The unit, or an empty string if fio ignores it.
fn size_suffix(text: &str) -> &str {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let rest = unsigned.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_unit = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%');
    if !has_unit {
        return "";
    }
    let end = rest.find([':', '-', ',', '/']).unwrap_or(rest.len());
    &rest[..end]
}

/// The factor of a unit, and whether it is `%`.
fn size_factor(suffix: &str, kb_base: u64) -> (i64, bool) {
    let suffix = suffix.to_ascii_lowercase();
    let Some(first) = suffix.chars().next() else {
        return (1, false);
    };
    if first == '%' {
        return (1, true);
    }
    let Some(power) = "kmgtp".find(first) else {
        return (1, false);
    };
    let other_base = if kb_base == 1000 { 1024 } else { 1000 };
    let base = if suffix[1..].starts_with("ib") {
        other_base
    } else {
        kb_base
    };
    ((base as i64).pow(power as u32 + 1), false)
}

fn size_flaw(text: &str, suffix: &str, kb_base: u64) -> Option<Flaw> {
    let trimmed = text.trim();
    if has_zero_fraction(trimmed) {
        return None;
    }
    if let Some(fraction) = fraction(trimmed) {
        return Some(fraction);
    }
    if text.starts_with(char::is_whitespace) && ends_with_unit(trimmed) {
        return Some(Flaw::LeadingSpace(trimmed.into()));
    }
    let lower = suffix.to_ascii_lowercase();
    let is_hex = text.contains("0x") || text.contains("0X");
    let after_letter = lower.get(1..).unwrap_or_default();
    match lower.chars().next() {
        None | Some('%') => trailing_text(trimmed),
        Some('b') if lower == "b" => None,
        Some(_) if is_hex => None,
        Some('k' | 'm' | 'g' | 't' | 'p') => match after_letter {
            "" | "b" if kb_base == 1000 => None,
            "" | "b" | "i" if kb_base == 1024 => None,
            "ib" if kb_base == 1000 => None,
            "ib" | "i" => Some(Flaw::DecimalUnit(suffix.into())),
            _ => Some(Flaw::UnknownUnit(suffix.into())),
        },
        Some(_) => Some(Flaw::UnknownUnit(suffix.into())),
    }
}

fn time_flaw(text: &str, suffix: &str) -> Option<Flaw> {
    let trimmed = text.trim();
    if let Some(fraction) = fraction(trimmed) {
        return Some(fraction);
    }
    if text.starts_with(char::is_whitespace) && ends_with_unit(trimmed) {
        return Some(Flaw::LeadingSpace(trimmed.into()));
    }
    match suffix.trim_end().to_ascii_lowercase().as_str() {
        "" | "us" | "usec" | "ms" | "msec" | "s" | "m" | "h" | "d" => None,
        "sec" | "secs" | "second" | "seconds" => Some(Flaw::TimeUnit("s".into())),
        "min" | "mins" | "minute" | "minutes" => Some(Flaw::TimeUnit("m".into())),
        "hour" | "hours" | "hr" => Some(Flaw::TimeUnit("h".into())),
        "day" | "days" => Some(Flaw::TimeUnit("d".into())),
        _ => Some(Flaw::UnknownUnit(suffix.into())),
    }
}

fn time_factor(suffix: &str, bare_unit_us: i64) -> i64 {
    let suffix = suffix.to_ascii_lowercase();
    if !suffix.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return bare_unit_us;
    }
    if suffix.starts_with("us") {
        return 1;
    }
    if suffix.starts_with("ms") {
        return 1_000;
    }
    match suffix.as_str() {
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => 1,
    }
}

/// Whether the text is an integer with a zero fraction, such as `4096.0`, which some programs
/// print. Not used for times, because fio does not apply their default unit, seconds, to such a
/// number.
fn has_zero_fraction(text: &str) -> bool {
    let Some((whole, fraction)) = text.split_once('.') else {
        return false;
    };
    let is_whole = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    is_whole && !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0')
}

/// Finds a fraction, as in `1.5g`: for fio, the number ends at the decimal point.
fn fraction(text: &str) -> Option<Flaw> {
    let (whole, rest) = text.split_once('.')?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_number = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && digits > 0)
        .then(|| Flaw::Fraction(in_smaller_unit(whole, &rest[..digits], &rest[digits..])))
}

/// The same number in a smaller unit, such as `1536m` for `1.5g`.
fn in_smaller_unit(whole: &str, digits: &str, unit: &str) -> Option<String> {
    let value: f64 = format!("{whole}.{digits}").parse().ok()?;
    let lower = unit.to_ascii_lowercase();
    let (scale, smaller) = match lower.as_str() {
        "t" | "tb" => (1024.0, "g"),
        "g" | "gb" => (1024.0, "m"),
        "m" | "mb" => (1024.0, "k"),
        "k" | "kb" => (1024.0, ""),
        "s" => (1000.0, "ms"),
        "h" => (60.0, "m"),
        "ms" => (1000.0, "us"),
        _ => return None,
    };
    let scaled = value * scale;
    (scaled.fract() == 0.0).then(|| format!("{scaled}{smaller}"))
}

fn ends_with_unit(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%')
        && text.starts_with(|c: char| c.is_ascii_digit())
        && !text.contains("0x")
}

/// Finds text after the digits that fio ignores, such as ` k` in `4 k`.
fn trailing_text(text: &str) -> Option<Flaw> {
    let end = text.find([',', ':', '/']).unwrap_or(text.len());
    let text = text[..end].strip_prefix(['-', '+']).unwrap_or(&text[..end]);
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match rest.split_once('-') {
        Some((rest, _)) => rest,
        None => rest,
    };
    let rest = rest.trim();
    (!rest.is_empty() && rest != "%").then(|| Flaw::UnknownUnit(rest.into()))
}

/// A size with the largest exact unit, such as `64k`.
pub fn size_text(bytes: i64) -> String {
    u64::try_from(bytes).map_or_else(|_| bytes.to_string(), units::size)
}

/// A time in seconds, milliseconds or microseconds, such as `30s`.
pub fn time_text(us: i64) -> String {
    if us == 0 {
        return "0s".into();
    }
    // Whole minutes are also formatted in seconds: `runtime=300s` is more common than `runtime=5m`.
    if us % 1_000_000 == 0 {
        format!("{}s", us / 1_000_000)
    } else if us % 1_000 == 0 {
        format!("{}ms", us / 1_000)
    } else {
        format!("{us}us")
    }
}

#[cfg(test)]
mod tests {
    use super::{Flaw, bytes, microseconds, size_text, time_text};

    /// Values from `fio --debug=parse` of fio 3.33.
    #[test]
    fn parses_sizes_like_fio() {
        for (text, base, want) in [
            ("4096", 1024, 4096),
            ("4k", 1024, 4096),
            ("4K", 1024, 4096),
            ("4kb", 1024, 4096),
            ("4ki", 1024, 4096),
            ("4kib", 1024, 4000),
            ("1mi", 1024, 1 << 20),
            ("1mib", 1024, 1_000_000),
            ("1mi", 1000, 1_000_000),
            ("1mib", 1000, 1 << 20),
            ("1m", 1000, 1_000_000),
            ("1.5g", 1024, 1),
            ("0x1000", 1024, 4096),
            ("512b", 1024, 512),
            ("4x", 1024, 4),
            (" 4k", 1024, 4),
            ("4k4", 1024, 4096),
            ("4k-16k", 1024, 4096),
            ("-5", 1024, -5),
            ("2t", 1024, 2 << 40),
        ] {
            assert_eq!(bytes(text, base).unwrap().value, want, "{text}");
        }
        for text in ["", "k", "abc", "-", " "] {
            assert_eq!(bytes(text, 1024), None, "{text}");
        }
        assert!(bytes("10%", 1024).unwrap().is_percent);
    }

    #[test]
    fn parses_times_like_fio() {
        for (text, bare, want) in [
            ("30", 1_000_000, 30_000_000),
            ("30s", 1_000_000, 30_000_000),
            ("10sec", 1_000_000, 10),
            ("5min", 1_000_000, 5),
            ("1m30s", 1_000_000, 1),
            ("1.5", 1_000_000, 1_000_000),
            ("500ms", 1_000_000, 500_000),
            ("10ms", 1, 10_000),
            ("10", 1, 10),
            ("2m", 1_000_000, 120_000_000),
            ("5-10", 1_000_000, 5_000_000),
            ("10s-20s", 1_000_000, 10),
        ] {
            assert_eq!(microseconds(text, bare).unwrap().value, want, "{text}");
        }
    }

    #[test]
    fn detects_misleading_numbers() {
        let size = |text| bytes(text, 1024).unwrap().flaw;
        let time = |text| microseconds(text, 1_000_000).unwrap().flaw;
        for text in [
            "4k", "4096", "0x10", "1g", "4ki", "10%", "512b", "4k-16k", "4k:8k", "100M", "4096.0",
        ] {
            assert_eq!(size(text), None, "{text}");
        }
        assert_eq!(size("1.5g"), Some(Flaw::Fraction(Some("1536m".into()))));
        assert_eq!(size("64.0m"), Some(Flaw::Fraction(Some("65536k".into()))));
        assert_eq!(size("4kib"), Some(Flaw::DecimalUnit("kib".into())));
        assert_eq!(size("4x"), Some(Flaw::UnknownUnit("x".into())));
        assert_eq!(size("4 k"), Some(Flaw::UnknownUnit("k".into())));
        assert_eq!(size(" 4k"), Some(Flaw::LeadingSpace("4k".into())));
        assert_eq!(size("99999999999999p"), Some(Flaw::TooLarge));
        for text in ["30", "30s", "2m", "500ms", "5-10"] {
            assert_eq!(time(text), None, "{text}");
        }
        assert_eq!(time("10sec"), Some(Flaw::TimeUnit("s".into())));
        assert_eq!(time("10.0"), Some(Flaw::Fraction(None)), "10 µs in fio");
        assert_eq!(time("1.5s"), Some(Flaw::Fraction(Some("1500ms".into()))));
        assert_eq!(time("1m30s"), Some(Flaw::UnknownUnit("m30s".into())));
    }

    #[test]
    fn formats_numbers_in_the_largest_exact_unit() {
        assert_eq!([size_text(4096), size_text(4000)], ["4k", "4000"]);
        assert_eq!(
            [
                time_text(300_000_000),
                time_text(1500),
                time_text(2000),
                time_text(0)
            ],
            ["300s", "1500us", "2ms", "0s"]
        );
    }
}
