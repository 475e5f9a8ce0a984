//! The combined requirements of multiple jobs for one file, which is either laid out or attached to
//! a loop device.

use crate::system::guard::Purpose;
use leadline_protocol::{
    job::keyword::{Fallocate, FileState},
    plan::{job::ResolvedJob, target::Target},
};
use std::{collections::BTreeMap, ops::Range};

pub(crate) struct FileSpec<'a> {
    pub path: &'a str,
    /// Byte ranges to write, sorted and nonoverlapping; may be empty.
    pub write: Vec<Range<u64>>,
    pub length: u64,
    /// How blocks are allocated if nothing is written.
    pub fallocate: Fallocate,
    /// Direct I/O alignment in bytes.
    pub alignment: u32,
    pub purpose: Purpose,
    pub unlink: bool,
    /// Whether to remove an existing file first, which must have an ownership mark.
    pub fresh: bool,
}

impl<'a> FileSpec<'a> {
    fn new(job: &ResolvedJob, target: &'a Target) -> Self {
        Self {
            path: &target.path,
            write: target
                .layout_offset
                .map(|offset| offset..offset + target.layout_bytes)
                .into_iter()
                .filter(|range| !range.is_empty())
                .collect(),
            length: target.length,
            fallocate: job.target.fallocate,
            alignment: target.alignment,
            purpose: Purpose::of(job),
            unlink: job.target.unlink,
            fresh: job.target.file_state == FileState::Fresh,
        }
    }

    /// Adds the requirements of another job. The file is unlinked only if both jobs unlink it.
    fn merge(&mut self, other: Self) {
        self.write.extend(other.write);
        self.write.sort_by_key(|range| range.start);
        self.write.dedup_by(|next, range| {
            let is_adjacent = next.start <= range.end;
            if is_adjacent {
                range.end = range.end.max(next.end);
            }
            is_adjacent
        });
        self.length = self.length.max(other.length);
        self.alignment = self.alignment.max(other.alignment);
        self.purpose = self.purpose.max(other.purpose);
        self.unlink &= other.unlink;
    }

    pub(crate) fn write_bytes(&self) -> u64 {
        self.write.iter().map(|range| range.end - range.start).sum()
    }
}

/// Returns one entry per file, which combines the requirements of all selected targets.
pub(crate) fn file_specs(
    jobs: &[ResolvedJob],
    is_selected: impl Fn(&ResolvedJob, &Target) -> bool,
) -> Vec<FileSpec<'_>> {
    let mut specs: BTreeMap<&str, FileSpec> = BTreeMap::new();
    for job in jobs {
        for target in &job.targets {
            if !is_selected(job, target) {
                continue;
            }
            let spec = FileSpec::new(job, target);
            match specs.get_mut(spec.path) {
                Some(known) => known.merge(spec),
                None => drop(specs.insert(spec.path, spec)),
            }
        }
    }
    specs.into_values().collect()
}
