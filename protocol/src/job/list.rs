//! Lists of paths and CPUs.

use crate::job::value::FioValue;

/// Upper bound of CPU numbers: the largest CONFIG_NR_CPUS of distribution kernels.
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
}

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
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        let ranges = ranges.ok_or_else(|| format!("`{text}` is not a CPU list such as 0-3,8"))?;
        let mut cpus: Vec<u32> = ranges.into_iter().flatten().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Self(cpus))
    }
}
