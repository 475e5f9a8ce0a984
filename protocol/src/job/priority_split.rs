//! The `cmdprio_bssplit` option.

use crate::{
    job::{
        range::{POSITIVE, ValueRange},
        value::FioValue,
        value_schema::{ValueSchema, pattern},
    },
    units,
};

/// fio's `BSSPLIT_MAX`.
const MAX_ENTRIES: usize = 64;
/// linux/ioprio.h.
const MAX_CLASS: u16 = 3;
const MAX_LEVEL: u16 = 7;
const MAX_HINT: u16 = 1023;

/// I/Os of one size and their priority.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PrioritySplitEntry {
    pub bytes: u64,
    /// Percentage of the I/Os of this size.
    pub percent: u8,
    /// Class, level and hint; `None` for the values of `cmdprio_class`, `cmdprio` and
    /// `cmdprio_hint`.
    pub priority: Option<[u16; 3]>,
}

/// Sizes with percentages and priorities, such as `64k/25/1/1:64k/75/3/2`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PrioritySplit(pub Vec<PrioritySplitEntry>);

impl FioValue for PrioritySplit {
    const KIND: &'static str = "sizes with priorities";

    fn parse(text: &str) -> Result<Self, String> {
        let entries: Vec<_> = text.split(':').map(entry).collect::<Result<_, _>>()?;
        if entries.len() > MAX_ENTRIES {
            let count = entries.len();
            return Err(format!(
                "too many sizes ({count}): use at most {MAX_ENTRIES}"
            ));
        }
        for PrioritySplitEntry { bytes, .. } in &entries {
            let same = entries.iter().filter(|entry| entry.bytes == *bytes);
            let sum: u32 = same.map(|entry| u32::from(entry.percent)).sum();
            if sum > 100 {
                return Err(format!(
                    "the percentages for {bytes} bytes add up to {sum} %: they must not exceed 100 %"
                ));
            }
        }
        Ok(Self(entries))
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        let range = range.unwrap_or(POSITIVE);
        let priority = "(/[1-3]/[0-7](/[0-9]{1,3})?)?";
        let entry = format!(
            "{}/({}?{priority})?",
            pattern::size(range),
            pattern::PERCENT
        );
        ValueSchema::pattern(pattern::list(&entry, ':', MAX_ENTRIES))
    }
}

/// `SIZE/`, `SIZE/PERCENT`, `SIZE/PERCENT/CLASS/LEVEL` or `SIZE/PERCENT/CLASS/LEVEL/HINT`.
fn entry(text: &str) -> Result<PrioritySplitEntry, String> {
    let Some((size, rest)) = text.split_once('/') else {
        return Err(format!(
            "`{text}` has no percentage: use size/percentage, such as 64k/20"
        ));
    };
    let bytes = units::bytes(size)?;
    if bytes == 0 {
        return Err("a size is 0: sizes must be greater than 0".into());
    }
    let mut parts = rest.split('/');
    let percent = match parts.next() {
        Some("") | None => 0,
        Some(percent) => units::percent(percent)?,
    };
    let parts: Vec<&str> = parts.collect();
    let priority = match parts[..] {
        [] => None,
        [class, level] => Some([
            number(class, 1..=MAX_CLASS, "class")?,
            number(level, 0..=MAX_LEVEL, "level")?,
            0,
        ]),
        [class, level, hint] => Some([
            number(class, 1..=MAX_CLASS, "class")?,
            number(level, 0..=MAX_LEVEL, "level")?,
            number(hint, 0..=MAX_HINT, "hint")?,
        ]),
        _ => {
            return Err(format!(
                "`{text}` is not size/percentage or size/percentage/class/level"
            ));
        }
    };
    Ok(PrioritySplitEntry {
        bytes,
        percent,
        priority,
    })
}

fn number(text: &str, range: std::ops::RangeInclusive<u16>, name: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let (min, max) = range.into_inner();
        format!("the {name} `{text}` must be between {min} and {max}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formats in fio's options.c, `parse_cmdprio_bssplit_entry`.
    #[test]
    fn parses_fio_formats() {
        let entries = |text| {
            let split = PrioritySplit::parse(text).unwrap().0;
            let entry = |entry: PrioritySplitEntry| (entry.bytes, entry.percent, entry.priority);
            split.into_iter().map(entry).collect::<Vec<_>>()
        };
        assert_eq!(
            entries("64k/100:1024k/0"),
            [(65_536, 100, None), (1_048_576, 0, None)]
        );
        assert_eq!(
            entries("64k/25/1/1:64k/75/3/2"),
            [(65_536, 25, Some([1, 1, 0])), (65_536, 75, Some([3, 2, 0]))]
        );
        assert_eq!(entries("1m/10/2/0/3"), [(1 << 20, 10, Some([2, 0, 3]))]);
        assert_eq!(entries("4k/"), [(4096, 0, None)]);
    }

    #[test]
    fn rejects_values_that_fio_rejects_or_clamps() {
        for (text, part) in [
            ("4k/10/1", "is not size/percentage"),
            ("4k/10/4/0", "class `4` must be between 1 and 3"),
            ("4k/10/0/0", "class `0`"),
            ("4k/10/1/8", "level `8`"),
            ("4k/10/1/0/1024", "hint `1024`"),
            ("4k/60:8k/1:4k/41", "add up to 101 %"),
            ("4k/101", "101"),
            ("0/10", "greater than 0"),
            ("4k/10:", "no percentage"),
            ("4k", "no percentage"),
        ] {
            let error = PrioritySplit::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
