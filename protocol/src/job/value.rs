//! Parses individual option values, independently of other options.

use crate::{
    job::{
        range::{I32, PERCENT, U32, U64, ValueRange},
        value_schema::{NumberSchema, TextSchema, ValueSchema, pattern},
    },
    units,
};
use std::str::FromStr;
use strum::{EnumMessage, IntoEnumIterator, VariantNames};

/// An option value with fio's syntax.
pub trait FioValue: Sized {
    /// Value type for documentation and forms, such as `size`.
    const KIND: &'static str;
    /// All values, if there is a fixed set.
    const VALUES: &'static [&'static str] = &[];

    /// # Errors
    /// What is wrong and how to fix it, without a final period.
    fn parse(text: &str) -> Result<Self, String>;

    /// Schema of the valid JSON values. `range`: the option's allowed values.
    fn schema(range: Option<ValueRange>) -> ValueSchema;
}

/// An enum whose values are its `strum` variant names.
pub trait Keyword: FromStr + VariantNames + EnumMessage + IntoEnumIterator {
    const KIND: &'static str;
}

impl<T: Keyword> FioValue for T {
    const KIND: &'static str = <T as Keyword>::KIND;
    const VALUES: &'static [&'static str] = T::VARIANTS;

    fn parse(text: &str) -> Result<Self, String> {
        let names = || T::VARIANTS.join(", ");
        text.trim()
            .parse()
            .map_err(|_| format!("`{text}` is not one of: {}", names()))
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        ValueSchema::words(words::<T>())
    }
}

/// All names of the variants, including aliases.
pub(crate) fn words<T: EnumMessage + IntoEnumIterator>() -> Vec<&'static str> {
    let words = T::iter().flat_map(|variant| variant.get_serializations().iter().copied());
    words.collect()
}

macro_rules! fio_value {
    ($type:ty, $kind:literal, $parse:expr, $schema:expr) => {
        impl FioValue for $type {
            const KIND: &'static str = $kind;

            fn parse(text: &str) -> Result<Self, String> {
                $parse(text)
            }

            fn schema(range: Option<ValueRange>) -> ValueSchema {
                $schema(range)
            }
        }
    };
}

fn integer<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is not an integer or is out of range"))
}

fn count(text: &str) -> Result<u64, String> {
    units::bytes(text).map_err(|_| format!("`{text}` is not an integer"))
}

fio_value!(u32, "count", integer, |range: Option<ValueRange>| {
    let range = range.unwrap_or(U32);
    ValueSchema::integers(
        pattern::integer(range.min.unsigned_abs()..=range.max),
        range,
    )
});
fio_value!(u64, "count", count, |range: Option<ValueRange>| {
    sizes(range.unwrap_or(U64))
});
fio_value!(i32, "integer", integer, |range: Option<ValueRange>| {
    let range = range.unwrap_or(I32);
    let [negative, positive] =
        [range.min.unsigned_abs(), range.max].map(|max| pattern::integer(0..=max));
    ValueSchema::integers(format!("(-{negative}|{positive})"), range)
});

/// Numbers with an optional unit.
pub(crate) fn sizes(range: ValueRange) -> ValueSchema {
    ValueSchema::integers(pattern::size(range), range)
}

fn times(range: Option<ValueRange>, bare_unit_us: u64) -> ValueSchema {
    let range = range.unwrap_or(U64);
    ValueSchema::pattern(pattern::time(range, bare_unit_us)).with_integers(range, bare_unit_us)
}

impl FioValue for String {
    const KIND: &'static str = "text";

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("the value is empty".into()),
            text if text.contains('\0') => Err("the value contains a NUL character".into()),
            text => Ok(text.into()),
        }
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        let text = match range {
            Some(range) => TextSchema::Name(range.max as usize),
            None => TextSchema::Pattern(NOT_EMPTY.into()),
        };
        ValueSchema {
            text,
            numbers: vec![NumberSchema::Any],
        }
    }
}

/// Text without NUL that is not blank.
const NOT_EMPTY: &str = r"[^\u0000]*[^\s\u0000][^\u0000]*";

impl FioValue for bool {
    const KIND: &'static str = "flag";
    const VALUES: &'static [&'static str] = &["1", "0"];

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            _ => Err(format!("`{text}` is not a flag: use 1 or 0")),
        }
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        ValueSchema::words(vec!["1", "0", "true", "false"])
    }
}

/// An integer from 0 to 100.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Percent(pub u8);

fio_value!(
    Percent,
    "percent",
    |text| units::percent(text).map(Percent),
    |range: Option<ValueRange>| {
        ValueSchema::integers(format!("{}?", pattern::PERCENT), range.unwrap_or(PERCENT))
    }
);

/// A percentage above 0 and up to 100, such as 99.9.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecimalPercent(pub f64);

fio_value!(
    DecimalPercent,
    "percent",
    |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number
            .filter(|percent| *percent > 0.0 && *percent <= 100.0)
            .map(DecimalPercent)
            .ok_or_else(|| format!("`{text}` is not a percentage above 0 and up to 100"))
    },
    |_| ValueSchema {
        numbers: vec![NumberSchema::Percent { is_positive: true }],
        ..ValueSchema::pattern(pattern::POSITIVE_PERCENT)
    }
);

/// A duration in microseconds; a bare number is in seconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Seconds(pub u64);

fio_value!(
    Seconds,
    "time (s)",
    |text| units::microseconds(text, US_PER_SECOND).map(Seconds),
    |range| times(range, US_PER_SECOND)
);

const US_PER_SECOND: u64 = 1_000_000;

/// A range of durations in microseconds, such as `5-10`; a bare number is in seconds. A single
/// duration is a range of one value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SecondsRange {
    pub min_us: u64,
    pub max_us: u64,
}

impl FioValue for SecondsRange {
    const KIND: &'static str = "time (s)";

    fn parse(text: &str) -> Result<Self, String> {
        let (min, max) = text.split_once('-').unwrap_or((text, text));
        let [min_us, max_us] = [Seconds::parse(min)?.0, Seconds::parse(max)?.0];
        if min_us > max_us {
            return Err(format!("`{text}` is not a range such as 5-10"));
        }
        Ok(Self { min_us, max_us })
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        let range = range.unwrap_or(U64);
        let time = pattern::time(range, US_PER_SECOND);
        ValueSchema::pattern(format!("{time}(-{time})?")).with_integers(range, US_PER_SECOND)
    }
}

/// A duration in microseconds; a bare number is in microseconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Micros(pub u64);

fio_value!(
    Micros,
    "time (us)",
    |text| units::microseconds(text, 1).map(Micros),
    |range| times(range, 1)
);
