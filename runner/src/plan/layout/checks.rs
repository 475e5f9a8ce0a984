//! Problems and findings about the layout of a file.

use crate::plan::{
    host_view::{PathFacts, PathKind},
    issues::Issues,
    job_request::JobRequest,
    target_paths::TargetPath,
    verify::is_verify_only,
};
use leadline_protocol::{
    finding::Severity,
    format::bytes,
    job::{engine::EngineName, keyword::FileState},
    plan::target::{Target, TargetKind},
};
use serde_json::json;

const SECTOR_BYTES: u64 = 512;

/// Rejects jobs that would read beyond the end of the file, or write to a mapping beyond it.
pub(super) fn check_reads(
    request: &JobRequest,
    facts: &PathFacts,
    length: u64,
    end: u64,
    issues: &mut Issues,
) {
    let is_mapped = request.engine == EngineName::Mmap;
    if !(request.rw.kind.reads() || is_mapped) || length >= end {
        return;
    }
    let option = if request.job.file_append() {
        "file_append"
    } else if request.job.create_on_open() {
        "create_on_open"
    } else {
        "fallocate"
    };
    let access = if is_mapped { "maps" } else { "reads" };
    let detail = format!(
        "The job {access} {} up to offset {}, but the file will be only {} long.",
        facts.canonical,
        bytes(end),
        bytes(length)
    );
    let remedy = format!("Remove {option} so that layout writes the file first.");
    issues.invalid("read_beyond_end", option, detail, remedy);
}

/// A loop device has the length of its backing file, rounded down to whole sectors, and does not
/// grow.
pub(super) fn check_loop_length(path: &TargetPath, length: u64, end: u64, issues: &mut Issues) {
    let is_cut = length >= end;
    let length = length / SECTOR_BYTES * SECTOR_BYTES;
    if path.kind == TargetKind::Loop && length < end {
        let detail = format!(
            "A loop device on {} would be only {}, but the job needs {}.",
            path.facts.canonical,
            bytes(length),
            bytes(end)
        );
        let remedy = if is_cut {
            "Use sizes that are multiples of 512 bytes."
        } else {
            "Remove fallocate, file_append and create_on_open."
        };
        issues.invalid("loop_too_short", "loop_device", detail, remedy);
    }
}

/// Checks a file that exists before the run, and reports findings about it. Returns false if layout
/// must not write to the file, so that no confirmation is required. `rewrite`: whether layout
/// rewrites the job's regions.
pub(super) fn check_existing(
    request: &JobRequest,
    facts: &PathFacts,
    length_before: u64,
    length: u64,
    rewrite: bool,
    issues: &mut Issues,
) -> bool {
    if facts.kind != PathKind::File {
        return true;
    }
    let path = &facts.canonical;
    let extended = length > length_before;
    let overwrites = request.rw.kind.is_destructive();
    // Layout writes to the file even if the job only reads.
    if let Some(problem) = &facts.write_problem
        && !overwrites
        && (extended || rewrite)
    {
        let option = if rewrite { "overwrite" } else { "size" };
        issues.problem(problem.clone(), option);
    }
    let is_requested = request.job.overwrite() || request.job.file_state() != FileState::AsIs;
    let is_too_short = extended && !overwrites && !facts.is_owned && !is_requested;
    if is_too_short {
        let detail = format!(
            "{path} is only {} long and was not created by Leadline. A read-only job does not extend it.",
            bytes(length_before)
        );
        let remedy =
            "Use a size up to its length, or set file_state=written to extend it with data.";
        issues.invalid("file_too_short", "size", detail, remedy);
    } else if extended {
        issues.finding(
            Severity::Note,
            "file_extended",
            format!(
                "Layout extends {path} from {} to {}.",
                bytes(length_before),
                bytes(length)
            ),
            json!({"found_bytes": length_before, "length_bytes": length}),
            "Use another file, or a size up to its current length.",
        );
    }
    let appends = request.job.file_append();
    if length_before > 0 && (rewrite || (overwrites && !appends)) {
        issues.finding(
            Severity::Warning,
            "file_overwritten",
            format!("The run overwrites data in {path}."),
            json!({"found_bytes": length_before}),
            "Use another file to keep the data.",
        );
    }
    !is_too_short
}

/// Reports an existing file that the job's writes extend.
pub(super) fn report_growth(facts: &PathFacts, length: u64, end: u64, issues: &mut Issues) {
    if facts.kind != PathKind::File || end <= length {
        return;
    }
    issues.finding(
        Severity::Note,
        "file_extended",
        format!(
            "The writes extend {} from {} to {}.",
            facts.canonical,
            bytes(length),
            bytes(end)
        ),
        json!({"found_bytes": length, "length_bytes": end}),
        "Use another file, or a size up to its current length.",
    );
}

pub(super) fn report_unwritten_blocks(
    request: &JobRequest,
    facts: &PathFacts,
    issues: &mut Issues,
) {
    if !request.rw.kind.reads() {
        report_initial_write(facts, issues);
        return;
    }
    issues.finding(
        Severity::Serious,
        "unwritten_blocks",
        format!(
            "{} has unwritten blocks; the filesystem reads them without accessing the device.",
            facts.canonical
        ),
        None,
        "Set overwrite=1 to write to the file first (its data is lost), or use another file.",
    );
}

pub(super) fn report_initial_write(facts: &PathFacts, issues: &mut Issues) {
    issues.finding(
        Severity::Warning,
        "initial_write",
        format!(
            "The first writes to {} also allocate blocks; a second run may give different results.",
            facts.canonical
        ),
        None,
        "Set overwrite=1 to write the file before the measurement.",
    );
}

/// With `allow_file_create=0`, a job that only reads must not write to its files before it starts.
pub(crate) fn check_reads_without_layout(
    request: &JobRequest,
    targets: &[Target],
    issues: &mut Issues,
) {
    let job = request.job;
    if job.allow_file_create() || request.rw.kind.is_destructive() || is_verify_only(job) {
        return;
    }
    let laid_out = |target: &&Target| target.existed && target.layout_bytes > 0;
    for target in targets.iter().filter(laid_out) {
        issues.invalid(
            "region_beyond_end",
            "size",
            format!(
                "With allow_file_create=0, a job that only reads does not write to files, but this job would write {} bytes to {}.",
                target.layout_bytes, target.path
            ),
            "Use a smaller size, and remove overwrite, or remove allow_file_create.",
        );
    }
}
