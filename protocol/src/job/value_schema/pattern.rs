//! Regular expressions (ECMA-262) for numbers, sizes and times in a range. Text that matches is
//! valid, but some valid text does not match: text with spaces or signs, and numbers with as many
//! digits as a large maximum.

use crate::job::range::ValueRange;
use std::{collections::BTreeSet, ops::RangeInclusive};

/// Larger maximums are rounded down to a number such as 999,999, so that expressions stay short.
const LONG: u64 = 100_000;

/// Size units: suffix and its largest factor (`kib` is 1,000, the other forms are 1,024).
const SIZE_UNITS: [(&str, u64); 6] = [
    ("[bB]", 1),
    ("[kK]([bB]|[iI][bB]?)?", 1 << 10),
    ("[mM]([bB]|[iI][bB]?)?", 1 << 20),
    ("[gG]([bB]|[iI][bB]?)?", 1 << 30),
    ("[tT]([bB]|[iI][bB]?)?", 1 << 40),
    ("[pP]([bB]|[iI][bB]?)?", 1 << 50),
];
/// Time units: suffix and factor in µs.
const TIME_UNITS: [(&str, u64); 6] = [
    ("[uU][sS]([eE][cC])?", 1),
    ("[mM][sS]([eE][cC])?", 1_000),
    ("[sS]", 1_000_000),
    ("[mM]", 60_000_000),
    ("[hH]", 3_600_000_000),
    ("[dD]", 86_400_000_000),
];
pub(crate) const PERCENT: &str = "(100|[0-9]{1,2})%";
/// A decimal from 0 to 100.
pub(crate) const DECIMAL_PERCENT: &str = r"(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)";
/// A decimal above 0 and up to 100.
pub(crate) const POSITIVE_PERCENT: &str =
    r"(100(\.0+)?|[1-9][0-9]?(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)";

/// A decimal integer without a sign.
pub(crate) fn integer(range: RangeInclusive<u64>) -> String {
    let (min, mut max) = range.into_inner();
    if max >= LONG {
        max = 10_u64.pow(max.ilog10()) - 1;
    }
    let is_nines = max > 0 && (max + 1) == 10_u64.pow((max + 1).ilog10());
    match min {
        0 if is_nines => format!("[0-9]{{1,{}}}", (max + 1).ilog10()),
        1 if is_nines => format!("0*[1-9][0-9]{{0,{}}}", (max + 1).ilog10() - 1),
        _ => format!("0*({})", between(min, max).join("|")),
    }
}

/// Splits a range into subranges whose numbers share their first digits and have arbitrary last
/// digits, and returns an expression for each.
fn between(min: u64, max: u64) -> Vec<String> {
    let powers = || (1..=max.max(1).ilog10() + 1).map(|digits| 10_u64.pow(digits));
    let ends_of_min = powers().map(|power| min / power * power + (power - 1));
    let ends_of_max = powers().map(|power| ((max + 1) / power * power).saturating_sub(1));
    let ends: BTreeSet<u64> = ends_of_min
        .chain(ends_of_max)
        .filter(|end| (min..max).contains(end))
        .chain([max])
        .collect();
    let mut first = min;
    let mut parts = Vec::new();
    // The shortest and the longest length for which the range contains all numbers, as the number
    // of digits after the first one.
    let mut any: Option<(u32, u32)> = None;
    for last in ends {
        let length = last.max(1).ilog10();
        if first == 10_u64.pow(length) && last == 10_u64.pow(length + 1) - 1 {
            any = Some((any.map_or(length, |(least, _)| least), length));
        } else {
            parts.push(digits(first, last));
        }
        first = last + 1;
    }
    parts.extend(any.map(|(least, most)| format!("[1-9][0-9]{{{least},{most}}}")));
    parts
}

fn digits(first: u64, last: u64) -> String {
    let (first, last) = (first.to_string(), last.to_string());
    let pairs = || first.bytes().zip(last.bytes());
    let any = pairs()
        .rev()
        .take_while(|pair| *pair == (b'0', b'9'))
        .count();
    let mut text = String::new();
    for (first, last) in pairs().take(last.len() - any) {
        match (first as char, last as char) {
            (first, last) if first == last => text.push(first),
            (first, last) => text.push_str(&format!("[{first}-{last}]")),
        }
    }
    match any {
        0 => text,
        1 => text + "[0-9]",
        _ => text + &format!("[0-9]{{{any}}}"),
    }
}

/// A number of bytes with an optional unit, or a hexadecimal number.
pub(crate) fn size(range: ValueRange) -> String {
    let decimal = with_unit(range, &SIZE_UNITS, 1);
    match range.max.ilog2() / 4 {
        digits @ 1.. if range.min == 0 => {
            format!("({decimal}|0[xX][0-9a-fA-F]{{1,{digits}}})")
        }
        _ => decimal,
    }
}

/// A time; `bare_unit_us` is the unit of a number without a unit.
pub(crate) fn time(range: ValueRange, bare_unit_us: u64) -> String {
    with_unit(range, &TIME_UNITS, bare_unit_us)
}

fn with_unit(range: ValueRange, units: &[(&str, u64)], bare: u64) -> String {
    let min = range.min.max(0).unsigned_abs();
    let mut alternatives: Vec<String> = units
        .iter()
        .filter(|(_, factor)| factor % range.step == 0)
        .filter_map(|(suffix, factor)| {
            let (min, max) = (min.div_ceil(*factor), range.max / factor);
            let suffix = match *factor == bare {
                true => format!("({suffix})?"),
                false => (*suffix).to_owned(),
            };
            (min <= max).then(|| integer(min..=max) + &suffix)
        })
        .collect();
    if range.or_zero {
        alternatives.push("0+".into());
    }
    format!("({})", alternatives.join("|"))
}

/// Values for reads, writes and trims. `may_omit`: some values may be empty.
pub(crate) fn directions(value: &str, may_omit: bool) -> String {
    if may_omit {
        format!("({value}(,({value})?){{0,2}}|,{value}(,({value})?)?|,,{value})")
    } else {
        format!("{value}(,{value}){{0,2}}")
    }
}

/// At most `count` items.
pub(crate) fn list(item: &str, separator: char, count: usize) -> String {
    format!("{item}({separator}{item}){{0,{}}}", count - 1)
}

/// Matches only the whole text.
pub(crate) fn anchored(expression: &str) -> String {
    format!("^({expression})$")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the whole text matches. Supports only expressions without alternatives.
    fn matches(expression: &str, text: &str) -> bool {
        let Some((class, rest)) = split_class(expression) else {
            return text.is_empty();
        };
        let (least, most, rest) = repeats(rest);
        let digits = text.chars().take_while(|digit| class.contains(digit));
        let digits = digits.count() as u32;
        (least..=most.min(digits)).any(|count| matches(rest, &text[count as usize..]))
    }

    fn split_class(expression: &str) -> Option<(RangeInclusive<char>, &str)> {
        let first = expression.chars().next()?;
        if first != '[' {
            return Some((first..=first, &expression[1..]));
        }
        let (class, rest) = expression[1..].split_once(']')?;
        let mut class = class.chars();
        Some((class.next()?..=class.next_back()?, rest))
    }

    fn repeats(expression: &str) -> (u32, u32, &str) {
        let counts = expression.strip_prefix('{');
        let Some((counts, rest)) = counts.and_then(|rest| rest.split_once('}')) else {
            return (1, 1, expression);
        };
        let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
        (least.parse().unwrap(), most.parse().unwrap(), rest)
    }

    #[test]
    fn integer_patterns_match_exactly_their_range() {
        for (min, max) in [
            (0, 0),
            (0, 7),
            (1, 1024),
            (2, 24),
            (1, 4096),
            (100, 3600),
            (7, 3123),
            (999, 1000),
            (995, 2005),
        ] {
            let parts = between(min, max);
            for number in 0..5000_u64 {
                let text = number.to_string();
                let count = parts.iter().filter(|part| matches(part, &text)).count();
                assert_eq!(
                    count,
                    usize::from((min..=max).contains(&number)),
                    "{min}-{max}: {number} {parts:?}"
                );
            }
        }
        assert_eq!(integer(0..=u64::MAX), "[0-9]{1,19}");
        assert_eq!(integer(1..=99), "0*[1-9][0-9]{0,1}");
        assert_eq!(integer(1..=31_536_000), "0*[1-9][0-9]{0,6}");
        assert_eq!(
            integer(0..=4095),
            "0*(0|[1-3][0-9]{3}|40[0-8][0-9]|409[0-5]|[1-9][0-9]{0,2})"
        );
    }

    #[test]
    fn time_patterns_match_the_units_of_their_range() {
        let spin = time(crate::job::range::SPIN, 1);
        assert_eq!(
            spin,
            "([0-9]{1,6}([uU][sS]([eE][cC])?)?|0*(0|1000|[1-9][0-9]{0,2})[mM][sS]([eE][cC])?\
             |0*(0|1)[sS]|0*(0)[mM]|0*(0)[hH]|0*(0)[dD])"
        );
        let window = time(crate::job::range::STEADY_STATE_WINDOW, 1_000_000);
        assert!(!window.contains("[mM][sS]"), "{window}");
        assert!(
            window.contains("([sS])?") && window.ends_with("|0+)"),
            "{window}"
        );
    }
}
