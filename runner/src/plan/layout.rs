//! Layout of files before the measurement: written, allocated, or left to grow. Existing data is
//! rewritten only with `overwrite`.

mod checks;

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

/// How a file gets its blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Allocation {
    /// Layout writes data.
    Written,
    /// Layout allocates blocks or sets the length, without data.
    Unwritten,
    /// The writes of the job extend the file.
    OnDemand,
}

/// Resolves the targets of a job, in the order of its regions. `job`: index in the run.
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
        let ends = regions
            .of_path(index)
            .map(|region| region.begin + region.len);
        let end = ends.max().unwrap_or(0);
        let (length, mut layout_bytes) = match path.kind {
            TargetKind::Device => (path.facts.length, 0),
            TargetKind::Null => (end, 0),
            TargetKind::File | TargetKind::Loop => lay_out(request, job, path, end, budget, issues),
        };
        for region in regions.of_path(index) {
            targets.push(target(request, path, region, length, layout_bytes));
            // A shared file is laid out once.
            layout_bytes = 0;
        }
    }
    targets
}

fn target(
    request: &JobRequest,
    path: &TargetPath,
    region: &Region,
    length: u64,
    layout_bytes: u64,
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
        layout_bytes,
        filesystem: facts.filesystem.clone(),
        device: facts.device.clone(),
        identity: facts.identity.clone(),
        alignment,
        offset: region.begin,
        size: region.len,
        worker: region.worker,
    }
}

/// Returns the length of a file after layout and the bytes that layout writes. `end`: end of the
/// last region.
fn lay_out(
    request: &JobRequest,
    job: usize,
    path: &TargetPath,
    end: u64,
    budget: &mut SpaceBudget,
    issues: &mut Issues,
) -> (u64, u64) {
    let facts = &path.facts;
    let allocation = allocation(request);
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
    let layout_bytes = match allocation {
        Allocation::Written if rewrite => length,
        Allocation::Written => length - length_before,
        Allocation::Unwritten | Allocation::OnDemand => 0,
    };
    let written_end = if request.rw.kind.writes() { needed } else { 0 };
    budget.add(facts, job, length, layout_bytes, written_end);
    checks::check_loop_length(path, length, end, issues);
    checks::check_reads(request, facts, length, end, issues);
    checks::check_existing(request, facts, length_before, length, rewrite, issues);
    let extended_by_job = end > length_before && allocation != Allocation::Written;
    if (allocation == Allocation::Unwritten && length > length_before) || (has_holes && !rewrite) {
        checks::report_unwritten_blocks(request, facts, issues);
    } else if extended_by_job && request.job.file_state() != FileState::Fresh {
        checks::report_initial_write(facts, issues);
    }
    (length, layout_bytes)
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
