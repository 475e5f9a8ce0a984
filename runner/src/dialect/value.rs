//! Option values, parsed as fio parses them (parse.c, `handle_option`).

use leadline_protocol::job::fio::{
    OptionKind,
    number::{self, Flaw, Number},
};

/// A parsed value. Directions are read, write and trim; `None` keeps the earlier value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Flag(bool),
    Number(Amount),
    Numbers([Option<Amount>; 3]),
    Ranges([Option<(i64, i64)>; 3]),
}

/// A number. `Plain` is in bytes, in microseconds, or without a unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Amount {
    Plain(i64),
    Percent(i64),
    Zones(i64),
}

/// A value, and how it may be misread.
#[derive(Debug, PartialEq)]
pub(crate) struct Parsed {
    pub value: Value,
    pub misread_values: Vec<Flaw>,
    /// Whether the value was split at `-` or `:` but is not a range.
    pub is_pair: bool,
}

/// Why fio rejects a value.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Invalid {
    /// The option requires a value.
    Missing,
    /// Not a number, time or range.
    NotANumber,
    /// Not 0 or 1.
    NotAFlag,
    /// Spaces around a keyword.
    Spaces,
}

/// Parses the value of an option.
///
/// # Errors
/// Returns why fio rejects it.
pub(crate) fn parse(kind: OptionKind, text: Option<&str>, kb_base: u64) -> Result<Parsed, Invalid> {
    let Some(text) = text else {
        return match kind {
            OptionKind::Set => Ok(Parsed::plain(Value::Flag(true))),
            OptionKind::OptionalText => Ok(Parsed::plain(Value::Text(String::new()))),
            _ => Err(Invalid::Missing),
        };
    };
    match kind {
        OptionKind::Text | OptionKind::Keyword | OptionKind::OptionalText
            if text.trim().is_empty() =>
        {
            Err(Invalid::Missing)
        }
        OptionKind::Keyword | OptionKind::OptionalText if text.trim() != text => {
            Err(Invalid::Spaces)
        }
        OptionKind::Text | OptionKind::Keyword | OptionKind::OptionalText => {
            Ok(Parsed::plain(Value::Text(text.into())))
        }
        OptionKind::Flag | OptionKind::Set => {
            flag(text).map(|flag| Parsed::plain(Value::Flag(flag)))
        }
        OptionKind::Ranges => ranges(text, kb_base),
        _ if text.trim().is_empty() => Err(Invalid::Missing),
        _ => numbers(kind, text, kb_base),
    }
}

impl Parsed {
    fn plain(value: Value) -> Self {
        Self {
            value,
            misread_values: Vec::new(),
            is_pair: false,
        }
    }
}

/// Parses the leading digits of a flag, which must be 0 or 1 (`check_int`).
fn flag(text: &str) -> Result<bool, Invalid> {
    match number::bytes(text, 1024).map(|number| number.value) {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(Invalid::NotAFlag),
    }
}

fn numbers(kind: OptionKind, text: &str, kb_base: u64) -> Result<Parsed, Invalid> {
    let parse = |piece: &str| match kind {
        OptionKind::Seconds | OptionKind::TimeRange => number::microseconds(piece, 1_000_000),
        OptionKind::Micros | OptionKind::Times => number::microseconds(piece, 1),
        _ => number::bytes(piece, kb_base),
    };
    let pieces = pieces(text, true);
    let mut slots = [None; 3];
    let mut misread_values = Vec::new();
    let mut is_valid = false;
    for (index, piece) in pieces.parts.iter().enumerate() {
        let end = piece.find(',').unwrap_or(piece.len());
        let Some(number) = parse(&piece[..end]) else {
            continue;
        };
        is_valid = true;
        let amount = amount(kind, &piece[..end], &number);
        // The unit `z` (zones) is not a flaw: `options::check_value` rejects it.
        misread_values.extend(number.flaw.filter(|_| !matches!(amount, Amount::Zones(_))));
        let is_last = index + 1 == pieces.parts.len() && !pieces.ends_with_comma;
        store(&mut slots, index, is_last, amount);
    }
    if !is_valid {
        return Err(Invalid::NotANumber);
    }
    let value = match kind {
        OptionKind::Numbers
        | OptionKind::Times
        | OptionKind::TimeRange
        | OptionKind::NumberRange => Value::Numbers(slots),
        // fio calls the option's callback for each part, so the last part applies.
        OptionKind::Extent => Value::Number(
            slots
                .into_iter()
                .flatten()
                .last()
                .unwrap_or(Amount::Plain(0)),
        ),
        _ => match slots[0] {
            Some(amount) => Value::Number(amount),
            None => return Err(Invalid::NotANumber),
        },
    };
    Ok(Parsed {
        value,
        misread_values,
        is_pair: pieces.is_pair,
    })
}

fn amount(kind: OptionKind, piece: &str, number: &Number) -> Amount {
    if kind == OptionKind::Extent && piece.ends_with('z') {
        Amount::Zones(number.value)
    } else if number.is_percent {
        Amount::Percent(number.value)
    } else {
        Amount::Plain(number.value)
    }
}

/// Stores one part of a value. The first part sets reads, the second sets writes, and the third
/// sets trims. The last part also sets the remaining directions.
fn store<T: Copy>(slots: &mut [Option<T>; 3], index: usize, is_last: bool, value: T) {
    let end = if is_last { slots.len() } else { index + 1 };
    for slot in slots.iter_mut().take(end).skip(index) {
        *slot = Some(value);
    }
}

struct Pieces<'a> {
    parts: Vec<&'a str>,
    /// Whether the value ends with a comma. If so, the remaining directions keep their values.
    ends_with_comma: bool,
    is_pair: bool,
}

/// Splits a value at commas, and the part after the last comma also at `:` or `-`.
fn pieces(text: &str, is_number: bool) -> Pieces<'_> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut is_pair = false;
    loop {
        if let Some(comma) = rest.find(',') {
            parts.push(rest);
            rest = &rest[comma + 1..];
            if rest.is_empty() {
                return Pieces {
                    parts,
                    ends_with_comma: true,
                    is_pair,
                };
            }
            continue;
        }
        // A minus sign at the start is part of the number.
        let minus = rest.char_indices().skip(1).find(|(_, c)| *c == '-');
        let separator = rest.find(':').or(minus.map(|(at, _)| at));
        let Some(separator) = separator.filter(|_| is_number) else {
            parts.push(rest);
            return Pieces {
                parts,
                ends_with_comma: false,
                is_pair,
            };
        };
        is_pair = true;
        parts.push(rest);
        rest = &rest[separator + 1..];
    }
}

fn ranges(text: &str, kb_base: u64) -> Result<Parsed, Invalid> {
    let pieces = pieces(text, false);
    let mut slots = [None; 3];
    let mut misread_values = Vec::new();
    for (index, piece) in pieces.parts.iter().enumerate() {
        let end = piece.find(',').unwrap_or(piece.len());
        let piece = &piece[..end];
        let Some((first, second)) = piece.split_once('-').or_else(|| piece.split_once(':')) else {
            continue;
        };
        let (Some(first), Some(second)) = (
            number::bytes(first, kb_base),
            number::bytes(second, kb_base),
        ) else {
            continue;
        };
        let range = (first.value.min(second.value), first.value.max(second.value));
        misread_values.extend(first.flaw.into_iter().chain(second.flaw));
        let is_last = index + 1 == pieces.parts.len() && !pieces.ends_with_comma;
        store(&mut slots, index, is_last, range);
    }
    if slots.iter().all(Option::is_none) {
        return Err(Invalid::NotANumber);
    }
    Ok(Parsed {
        value: Value::Ranges(slots),
        misread_values,
        is_pair: false,
    })
}

impl Value {
    /// Keeps the directions of an earlier value that this one does not set.
    pub(crate) fn merged_with(self, earlier: Option<&Self>) -> Self {
        match (self, earlier) {
            (Self::Numbers(new), Some(Self::Numbers(old))) => Self::Numbers(merge(new, *old)),
            (Self::Ranges(new), Some(Self::Ranges(old))) => Self::Ranges(merge(new, *old)),
            (new, _) => new,
        }
    }
}

fn merge<T: Copy>(new: [Option<T>; 3], old: [Option<T>; 3]) -> [Option<T>; 3] {
    std::array::from_fn(|index| new[index].or(old[index]))
}

#[cfg(test)]
mod tests {
    use super::{Amount, Invalid, Value, parse};
    use leadline_protocol::job::fio::OptionKind;

    fn slots(text: &str) -> [Option<i64>; 3] {
        match parse(OptionKind::Numbers, Some(text), 1024).unwrap().value {
            Value::Numbers(slots) => slots.map(|slot| {
                slot.map(|amount| match amount {
                    Amount::Plain(value) => value,
                    other => panic!("{other:?}"),
                })
            }),
            other => panic!("{other:?}"),
        }
    }

    /// Verified with `fio --debug=parse` in fio 3.33.
    #[test]
    fn directions_are_split_as_in_fio() {
        let k = |read: i64, write: i64, trim: i64| {
            [read, write, trim].map(|size| (size > 0).then_some(size << 10))
        };
        for (text, want) in [
            ("4k", k(4, 4, 4)),
            ("4k,8k", k(4, 8, 8)),
            ("4k,8k,16k", k(4, 8, 16)),
            ("8k,32k,", k(8, 32, 0)),
            ("64k,", k(64, 0, 0)),
            (",8k", k(0, 8, 8)),
            ("4k,,8k", k(4, 0, 8)),
            ("4k-16k", k(4, 16, 16)),
            ("4k:8k", k(4, 8, 8)),
            ("4k,8k-16k", k(4, 8, 16)),
            ("4K-8K,16k", k(4, 16, 16)),
        ] {
            assert_eq!(slots(text), want, "{text}");
        }
    }

    #[test]
    fn bool_options_require_a_value_and_str_set_options_do_not() {
        let flag = |kind, text| parse(kind, text, 1024).map(|parsed| parsed.value);
        assert_eq!(flag(OptionKind::Flag, None), Err(Invalid::Missing));
        assert_eq!(flag(OptionKind::Flag, Some("yes")), Err(Invalid::NotAFlag));
        assert_eq!(flag(OptionKind::Flag, Some("2")), Err(Invalid::NotAFlag));
        assert_eq!(flag(OptionKind::Flag, Some("1")), Ok(Value::Flag(true)));
        assert_eq!(flag(OptionKind::Set, None), Ok(Value::Flag(true)));
        assert_eq!(flag(OptionKind::Set, Some("0")), Ok(Value::Flag(false)));
    }

    #[test]
    fn numbers_use_the_start_of_a_range_and_extents_use_the_end() {
        let one = |kind, text| parse(kind, Some(text), 1024).map(|parsed| parsed.value);
        assert_eq!(
            one(OptionKind::Number, "4-8"),
            Ok(Value::Number(Amount::Plain(4)))
        );
        assert_eq!(
            one(OptionKind::Number, "-5"),
            Ok(Value::Number(Amount::Plain(-5)))
        );
        assert_eq!(
            one(OptionKind::Extent, "10%"),
            Ok(Value::Number(Amount::Percent(10)))
        );
        assert_eq!(
            one(OptionKind::Extent, "1g-2g"),
            Ok(Value::Number(Amount::Plain(2 << 30)))
        );
        assert_eq!(
            one(OptionKind::Extent, "3z"),
            Ok(Value::Number(Amount::Zones(3)))
        );
        assert_eq!(one(OptionKind::Number, ",8"), Err(Invalid::NotANumber));
        assert_eq!(one(OptionKind::Number, "abc"), Err(Invalid::NotANumber));
    }

    #[test]
    fn ranges_are_sorted() {
        let ranges = |text| parse(OptionKind::Ranges, Some(text), 1024).map(|parsed| parsed.value);
        let pair = Some((1024, 4096));
        assert_eq!(ranges("4k-1k"), Ok(Value::Ranges([pair; 3])));
        assert_eq!(
            ranges("1k-4k,2k:8k"),
            Ok(Value::Ranges([
                pair,
                Some((2048, 8192)),
                Some((2048, 8192))
            ]))
        );
        assert_eq!(ranges("4k"), Err(Invalid::NotANumber));
    }
}
