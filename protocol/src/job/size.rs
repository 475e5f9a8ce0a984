//! Sizes, size ranges and block size splits.

use crate::{
    job::{
        range::{POSITIVE, U64, ValueRange},
        value::{FioValue, sizes},
        value_schema::{ValueSchema, pattern},
    },
    units,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of `bssplit` entries, as in fio.
const MAX_SPLIT_ENTRIES: usize = 64;

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
pub struct Bytes(pub u64);

impl FioValue for Bytes {
    const KIND: &'static str = "size";

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('-') {
            return Err(format!("`{text}` is negative"));
        }
        if text.contains(['-', ':']) {
            return Err(format!(
                "`{text}` is not a single size: only bsrange accepts a range, such as bsrange=4k-16k"
            ));
        }
        units::bytes(text).map(Self)
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        sizes(range.unwrap_or(U64))
    }
}

/// A size in bytes or as a percentage of the file or device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    Bytes(u64),
    Percent(u8),
}

impl Extent {
    /// Returns `None` for a percentage.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Percent(_) => None,
        }
    }
}

impl FioValue for Extent {
    const KIND: &'static str = "size or percent";

    fn parse(text: &str) -> Result<Self, String> {
        if text.contains('%') {
            units::percent(text).map(Self::Percent)
        } else {
            units::bytes(text).map(Self::Bytes)
        }
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        let range = range.unwrap_or(U64);
        let text = format!("({}|{})", pattern::size(range), pattern::PERCENT);
        ValueSchema::integers(text, range)
    }
}

/// Smallest and largest size in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SizeRange {
    pub min: u64,
    pub max: u64,
}

impl FioValue for SizeRange {
    const KIND: &'static str = "size range";

    fn parse(text: &str) -> Result<Self, String> {
        let (min, max) = text
            .split_once('-')
            .ok_or_else(|| format!("`{text}` is not a range such as 4k-64k"))?;
        let min = units::bytes(min)?;
        let max = units::bytes(max)?;
        if min == 0 || max < min {
            return Err(format!(
                "`{text}` is not a range: the first size must be above 0 and at most the second"
            ));
        }
        Ok(Self { min, max })
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        let size = pattern::size(range.unwrap_or(POSITIVE));
        ValueSchema::pattern(format!("{size}-{size}"))
    }
}

/// A block size and its percentage of the I/Os.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct SplitEntry {
    pub bytes: u64,
    /// Percentage of the I/Os.
    pub percent: u8,
}

/// Block sizes whose percentages add up to 100 %.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Split(pub Vec<SplitEntry>);

impl FioValue for Split {
    const KIND: &'static str = "sizes with shares";

    fn parse(text: &str) -> Result<Self, String> {
        let entries: Vec<(u64, Option<u8>)> =
            text.split(':').map(split_entry).collect::<Result<_, _>>()?;
        if entries.len() > MAX_SPLIT_ENTRIES {
            let count = entries.len();
            return Err(format!(
                "too many sizes ({count}): use at most {MAX_SPLIT_ENTRIES}"
            ));
        }
        let sum: u32 = entries
            .iter()
            .filter_map(|entry| entry.1)
            .map(u32::from)
            .sum();
        let blanks = entries.iter().filter(|entry| entry.1.is_none()).count() as u32;
        if sum > 100 || (blanks == 0 && sum != 100) {
            return Err(format!(
                "the shares of `{text}` add up to {sum} %: they must add up to 100 %"
            ));
        }
        // Entries without a percentage share the remaining percentage evenly; the first ones are
        // rounded up.
        let rest = 100 - sum;
        let share = rest.checked_div(blanks).unwrap_or(0);
        let mut remainder = rest.checked_rem(blanks).unwrap_or(0);
        let mut blank_share = || {
            let extra = u32::from(remainder > 0);
            remainder -= extra;
            (share + extra) as u8
        };
        let entry = |(bytes, percent): (u64, Option<u8>)| SplitEntry {
            bytes,
            percent: percent.unwrap_or_else(&mut blank_share),
        };
        Ok(Self(entries.into_iter().map(entry).collect()))
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        let range = range.unwrap_or(POSITIVE);
        let entry = format!("{}(/({}?)?)?", pattern::size(range), pattern::PERCENT);
        ValueSchema::integers(pattern::list(&entry, ':', MAX_SPLIT_ENTRIES), range)
    }
}

fn split_entry(text: &str) -> Result<(u64, Option<u8>), String> {
    let (size, share) = text.split_once('/').unwrap_or((text, ""));
    let bytes = units::bytes(size)?;
    if bytes == 0 {
        return Err("a size is 0: sizes must be greater than 0".into());
    }
    let percent = match share {
        "" => None,
        share => Some(units::percent(share)?),
    };
    Ok((bytes, percent))
}
