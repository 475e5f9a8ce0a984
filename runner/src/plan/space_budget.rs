//! Tracks a run's files and the disk space that they need. Later jobs are planned with the files in
//! the state in which earlier jobs leave them.

use crate::plan::{
    host_view::{HostView, PathFacts},
    issues::Issues,
    projected_files::ProjectedFiles,
};
use leadline_protocol::format::bytes;
use std::{collections::BTreeMap, ops::Range};

/// Reserves 1/20 of the free space, because a full filesystem breaks other programs, including the
/// server.
const RESERVE_DIVISOR: u64 = 20;
const MAX_RESERVE_BYTES: u64 = 1 << 30;

#[derive(Debug)]
pub(crate) struct SpaceBudget<'a> {
    files_before_run: &'a ProjectedFiles,
    /// Files by canonical path.
    files: BTreeMap<String, PlannedFile>,
}

/// All lengths are in bytes.
#[derive(Debug)]
struct PlannedFile {
    length_before_run: u64,
    /// Length at the start of the measurement.
    length: u64,
    /// Upper bound on the length after all writes.
    max_length: u64,
    /// Existing bytes of a sparse file that layout or the job overwrites.
    rewritten: u64,
    /// Upper bound on the bytes in holes before the run.
    holes: u64,
    fully_written: Option<bool>,
    /// Index of the first job that uses the file.
    job: usize,
    /// Device and filesystem.
    filesystem: (Option<String>, Option<String>),
    free: u64,
}

/// Space required on one filesystem.
struct RequiredSpace {
    bytes: u64,
    free: u64,
    job: usize,
}

impl<'a> SpaceBudget<'a> {
    pub(crate) fn new(files_before_run: &'a ProjectedFiles) -> Self {
        Self {
            files_before_run,
            files: BTreeMap::new(),
        }
    }

    /// Facts about a path before the run.
    pub(crate) fn facts(&self, path: &str, host: &dyn HostView) -> PathFacts {
        self.files_before_run.update(host.path(path))
    }

    /// Length of a file or device after the layout of the jobs so far, and whether all of its
    /// blocks contain data.
    pub(crate) fn projected(&self, facts: &PathFacts) -> (u64, Option<bool>) {
        match self.files.get(&facts.canonical) {
            Some(file) => (file.length, file.fully_written),
            None if facts.length == 0 => (0, facts.fully_written.or(Some(true))),
            None => (facts.length, facts.fully_written),
        }
    }

    /// Adds a layout that extends a file to `length` and writes `layout_bytes`. `written`: the
    /// ranges that the job writes later.
    pub(crate) fn add(
        &mut self,
        facts: &PathFacts,
        job: usize,
        length: u64,
        layout_bytes: u64,
        written: &[Range<u64>],
    ) {
        let (length_before, was_written) = self.projected(facts);
        let grown = length - length_before;
        let file = self
            .files
            .entry(facts.canonical.clone())
            .or_insert_with(|| PlannedFile {
                length_before_run: facts.length,
                length,
                max_length: 0,
                rewritten: 0,
                holes: facts.length.saturating_sub(facts.allocated_bytes),
                fully_written: was_written,
                job,
                filesystem: (facts.device.clone(), facts.filesystem.clone()),
                free: facts.free_bytes,
            });
        if layout_bytes >= length {
            file.fully_written = Some(true);
        } else if layout_bytes < grown {
            file.fully_written = Some(false);
        }
        file.length = length;
        let end = written.iter().map(|range| range.end).max().unwrap_or(0);
        file.max_length = file.max_length.max(end).max(length);
        file.rewritten += layout_bytes.saturating_sub(grown);
        if was_written == Some(false) {
            let within =
                |range: &Range<u64>| range.end.min(length_before).saturating_sub(range.start);
            file.rewritten += written.iter().map(within).sum::<u64>();
        }
    }

    /// Reports each filesystem that has too little free space.
    pub(crate) fn check(&self, job_names: &[String], issues: &mut Issues) {
        let mut required: BTreeMap<_, RequiredSpace> = BTreeMap::new();
        for file in self.files.values() {
            let space = required.entry(&file.filesystem).or_insert(RequiredSpace {
                bytes: 0,
                free: file.free,
                job: file.job,
            });
            let growth = file.max_length.saturating_sub(file.length_before_run);
            space.bytes = space
                .bytes
                .saturating_add(growth)
                .saturating_add(file.rewritten.min(file.holes));
            space.job = space.job.min(file.job);
        }
        for ((device, filesystem), space) in required {
            let reserve = (space.free / RESERVE_DIVISOR).min(MAX_RESERVE_BYTES);
            let usable = space.free - reserve;
            if space.bytes <= usable {
                continue;
            }
            let name = device.as_deref().or(filesystem.as_deref());
            let detail = format!(
                "The files need {} on {}, which has {} free.",
                bytes(space.bytes),
                name.unwrap_or("the filesystem"),
                bytes(space.free)
            );
            let remedy = format!(
                "Use at most {} ({} is reserved), or another directory.",
                bytes(usable),
                bytes(reserve)
            );
            issues.begin_job(space.job, &job_names[space.job]);
            issues.environment("insufficient_space", "size", detail, remedy);
        }
    }
}
