//! Plans how files are laid out before the measurement: written, allocated, or left to grow.
//! Existing data is rewritten only with `overwrite`, and only in the job's regions.

mod checks;

pub(crate) use checks::check_reads_without_layout;

use crate::plan::{
    host_view::PathKind,
    issues::Issues,
    job_request::JobRequest,
    regions::{Region, Regions},
    space_budget::SpaceBudget,
    states,
    target_paths::TargetPath,
};
use leadline_protocol::{
    job::keyword::{Fallocate, FileState},
    plan::target::{Target, TargetKind},
};
use std::{mem, ops::Range};

/// How a file's blocks are allocated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Allocation {
    /// Layout writes data.
    Written,
    /// Layout allocates blocks or sets the file length, but writes no data.
    Unwritten,
    /// The job's writes extend the file.
    OnDemand,
}

/// Resolves a job's targets, in region order. `job`: index in the run.
pub(crate) fn resolve(
    request: &JobRequest,
    job: usize,
    paths: &[TargetPath],
    regions: &Regions,
    budget: &mut SpaceBudget,
    issues: &mut Issues,
) -> Vec<Target> {
    let mut targets = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let regions: Vec<&Region> = regions.of_path(index).collect();
        let end = regions.iter().map(|region| region.end()).max().unwrap_or(0);
        let (length, mut layout) = match path.kind {
            TargetKind::Device => (path.facts.length, Layout::Nothing),
            TargetKind::Null => (end, Layout::Nothing),
            TargetKind::File | TargetKind::Loop => {
                lay_out(request, job, path, &regions, budget, issues)
            }
        };
        for region in regions {
            targets.push(target(request, path, region, length, layout.take(region)));
        }
    }
    targets
}

/// How a file is laid out.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Layout {
    Nothing,
    /// Writes one range: everything between the old and the new end of the file.
    Extension(Range<u64>),
    /// Writes nothing, but allocates blocks from this offset or sets the length.
    Allocation(u64),
    /// Writes the job's regions.
    Regions,
}

impl Layout {
    /// Takes the range to write for one region; `None` if nothing is laid out. An extension is
    /// written only once, regardless of the number of regions.
    fn take(&mut self, region: &Region) -> Option<Range<u64>> {
        if *self == Self::Regions {
            return Some(region.begin..region.end());
        }
        match mem::replace(self, Self::Nothing) {
            Self::Nothing | Self::Regions => None,
            Self::Extension(range) => Some(range),
            Self::Allocation(begin) => Some(begin..begin),
        }
    }

    fn bytes(&self, regions: &[&Region]) -> u64 {
        match self {
            Self::Nothing | Self::Allocation(_) => 0,
            Self::Extension(range) => range.end - range.start,
            Self::Regions => regions.iter().map(|region| region.len).sum(),
        }
    }
}

fn target(
    request: &JobRequest,
    path: &TargetPath,
    region: &Region,
    length: u64,
    layout: Option<Range<u64>>,
) -> Target {
    let facts = &path.facts;
    let alignment = match &facts.direct_alignment {
        Ok(alignment) if request.direct => alignment.memory.max(alignment.offset),
        _ => 1,
    };
    Target {
        path: facts.canonical.clone(),
        kind: path.kind,
        length,
        existed: matches!(facts.kind, PathKind::File | PathKind::Device),
        layout_bytes: layout.as_ref().map_or(0, |range| range.end - range.start),
        layout_offset: layout.map(|range| range.start),
        filesystem: facts.filesystem.clone(),
        device: facts.device.clone(),
        identity: facts.identity.clone(),
        alignment,
        offset: region.begin,
        size: region.len,
        worker: region.worker,
    }
}

/// Returns the file length after layout, and the layout itself.
fn lay_out(
    request: &JobRequest,
    job: usize,
    path: &TargetPath,
    regions: &[&Region],
    budget: &mut SpaceBudget,
    issues: &mut Issues,
) -> (u64, Layout) {
    let facts = &path.facts;
    let allocation = allocation(request);
    let end = regions.iter().map(|region| region.end()).max().unwrap_or(0);
    let (length_before, fully_written) = budget.projected(facts);
    let needed = end.max(request.filesize().unwrap_or(0));
    let has_holes = fully_written == Some(false);
    let rewrite = has_holes && request.job.overwrite();
    if rewrite {
        states::check_rewrite(request.job, facts, issues);
    }
    let length = match allocation {
        Allocation::OnDemand => length_before,
        Allocation::Written | Allocation::Unwritten => length_before.max(needed),
    };
    let layout = match allocation {
        Allocation::Written if rewrite => Layout::Regions,
        _ if length == length_before => Layout::Nothing,
        Allocation::Written => Layout::Extension(length_before..length),
        Allocation::Unwritten => Layout::Allocation(length_before),
        Allocation::OnDemand => Layout::Nothing,
    };
    let layout_bytes = layout.bytes(regions);
    let mut written = Vec::new();
    if request.rw.kind.writes() {
        written.extend(regions.iter().map(|region| region.begin..region.end()));
        // A `filesize` beyond the regions only extends the file.
        written.push(needed..needed);
    }
    budget.add(facts, job, length, layout_bytes, &written);
    checks::check_loop_length(path, length, end, issues);
    checks::check_reads(request, facts, length, end, issues);
    let is_written = checks::check_existing(request, facts, length_before, length, rewrite, issues);
    let layout = if is_written { layout } else { Layout::Nothing };
    // Appends always extend the file.
    if allocation == Allocation::OnDemand && request.rw.kind.writes() && !request.job.file_append()
    {
        checks::report_growth(facts, length_before, end, issues);
    }
    let extended_by_job = end > length_before && allocation != Allocation::Written;
    if (allocation == Allocation::Unwritten && length > length_before) || (has_holes && !rewrite) {
        checks::report_unwritten_blocks(request, facts, issues);
    } else if extended_by_job && request.job.file_state() != FileState::Fresh {
        checks::report_initial_write(facts, issues);
    }
    (length, layout)
}

fn allocation(request: &JobRequest) -> Allocation {
    let job = request.job;
    if job.file_append() || job.create_on_open() {
        return Allocation::OnDemand;
    }
    if job.overwrite() {
        return Allocation::Written;
    }
    match job.fallocate() {
        Fallocate::Written => Allocation::Written,
        Fallocate::Native | Fallocate::Posix | Fallocate::Truncate => Allocation::Unwritten,
        Fallocate::Keep | Fallocate::None => Allocation::OnDemand,
    }
}
