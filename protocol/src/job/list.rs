//! Lists of paths, CPUs and percentiles.

use crate::job::{
    range::ValueRange,
    value::FioValue,
    value_schema::{NumberSchema, ValueSchema, pattern},
};

/// Upper bound for CPU numbers: the largest CONFIG_NR_CPUS in distribution kernels.
const MAX_CPUS: u32 = 4096;

/// Paths, separated by `:`; `\:` is a literal colon.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Files(pub Vec<String>);

impl FioValue for Files {
    const KIND: &'static str = "paths";

    fn parse(text: &str) -> Result<Self, String> {
        if text.contains('\0') {
            return Err("the path contains a NUL character".into());
        }
        let escaped = text.replace("\\:", "\0");
        let files: Vec<String> = escaped
            .split(':')
            .map(|path| path.trim().replace('\0', ":"))
            .collect();
        if files.iter().any(String::is_empty) {
            return Err(format!("`{text}` contains an empty path"));
        }
        Ok(Self(files))
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        ValueSchema {
            numbers: vec![NumberSchema::Any],
            ..ValueSchema::pattern(format!("{PATH}(:{PATH})*"))
        }
    }
}

/// A path that is not blank.
const PATH: &str =
    r"([^:\\\u0000]|\\[^\u0000])*([^:\\\s\u0000]|\\[^\u0000])([^:\\\u0000]|\\[^\u0000])*";

/// CPU numbers, such as `0-3,8`; sorted, without duplicates.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CpuList(pub Vec<u32>);

impl FioValue for CpuList {
    const KIND: &'static str = "processors";

    fn parse(text: &str) -> Result<Self, String> {
        let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
            let part = part.trim();
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.parse().ok()?..=last.parse().ok()?;
            (!range.is_empty() && *range.end() < MAX_CPUS).then_some(range)
        };
        // A flag per CPU, because many ranges can contain the same numbers.
        let mut is_listed = [false; MAX_CPUS as usize];
        for part in text.split(',') {
            let range =
                range(part).ok_or_else(|| format!("`{text}` is not a CPU list such as 0-3,8"))?;
            is_listed[*range.start() as usize..=*range.end() as usize].fill(true);
        }
        let cpus = (0..MAX_CPUS).filter(|cpu| is_listed[*cpu as usize]);
        Ok(Self(cpus.collect()))
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        let cpu = pattern::integer(0..=u64::from(MAX_CPUS) - 1);
        let last = i128::from(MAX_CPUS) - 1;
        ValueSchema {
            numbers: vec![NumberSchema::Integers(0..=last)],
            ..ValueSchema::pattern(format!("{cpu}(-{cpu})?(,{cpu}(-{cpu})?)*"))
        }
    }
}

/// Percentiles from 0 to 100, separated by `:`.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles(pub Vec<f64>);

impl FioValue for Percentiles {
    const KIND: &'static str = "percentiles";

    fn parse(text: &str) -> Result<Self, String> {
        let percentile = |part: &str| {
            let percentile = part.trim().parse::<f64>().ok();
            percentile.filter(|percentile| (0.0..=100.0).contains(percentile))
        };
        let percentiles: Option<Vec<f64>> = text.split(':').map(percentile).collect();
        percentiles
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a list of percentiles such as 50:99:99.9"))
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        let number = pattern::DECIMAL_PERCENT;
        ValueSchema {
            numbers: vec![NumberSchema::Percent { is_positive: false }],
            ..ValueSchema::pattern(format!("{number}(:{number})*"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_sorted_and_bounded() {
        let parse = |text: &str| CpuList::parse(text).ok().map(|list| list.0);
        assert_eq!(parse("8, 0-2,1-3"), Some(vec![0, 1, 2, 3, 8]));
        for invalid in ["", "1,", "3-1", "4096", "0-4096", "-1", "a"] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
        // Storing the numbers of all these ranges separately would take gigabytes.
        let repeated = vec!["0-4095"; 150_000].join(",");
        assert_eq!(parse(&repeated).unwrap().len(), 4096);
    }

    #[test]
    fn percentiles_are_from_0_to_100() {
        let parse = |text: &str| Percentiles::parse(text).ok().map(|list| list.0);
        assert_eq!(parse("0:99.9: 100"), Some(vec![0.0, 99.9, 100.0]));
        for invalid in ["", "50:", "-1", "100.1", "nan", "p99"] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
    }
}
