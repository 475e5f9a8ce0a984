//! Checks the alignment of offsets and lengths for direct I/O and trims. Without this check, the
//! kernel would fail each I/O with EINVAL.

use crate::plan::{
    block_sizes::JobBlockSizes, issues::Issues, job_request::JobRequest, regions::Regions,
    target_paths::TargetPath,
};
use leadline_protocol::job::Job;
use std::collections::BTreeSet;

pub(crate) fn check(
    request: &JobRequest,
    sizes: &JobBlockSizes,
    paths: &[TargetPath],
    regions: &Regions,
    issues: &mut Issues,
) {
    if !request.direct && !request.rw.kind.trims() {
        return;
    }
    // Each option is reported only for the first path, because a job can have one file per worker.
    let mut rejected = BTreeSet::new();
    for (index, path) in paths.iter().enumerate() {
        let alignment = match &path.facts.direct_alignment {
            Ok(alignment) => u64::from(alignment.offset.max(1)),
            Err(_) => 1,
        };
        let mut values = io_values(request, sizes);
        for region in regions.of_path(index) {
            values.push((offset_option(request.job), region.begin));
        }
        for (option, value) in values {
            if value % alignment != 0 && rejected.insert(option) {
                let path = &path.facts.canonical;
                reject(request, option, value, alignment, path, issues);
            }
        }
    }
}

/// Options that determine I/O lengths and offsets, with their values in bytes.
fn io_values(request: &JobRequest, sizes: &JobBlockSizes) -> Vec<(&'static str, u64)> {
    let size_option = match (&request.job.bssplit, &request.job.bsrange) {
        (Some(_), _) => "bssplit",
        (_, Some(_)) => "bsrange",
        _ => "bs",
    };
    let mut values: Vec<_> = sizes.used().map(|(bs, _)| (size_option, bs.min)).collect();
    if request.rw.kind.is_random() {
        for (bs, align) in sizes.used() {
            if align != bs.min {
                values.push(("blockalign", align));
            }
        }
    } else if let Some(gap) = request.rw.modifier {
        values.push(("rw", gap.unsigned_abs()));
    }
    values
}

/// The option that determines where regions start.
fn offset_option(job: &Job) -> &'static str {
    if job.file_append() {
        "file_append"
    } else if job.offset_increment.is_some() {
        "offset_increment"
    } else {
        "offset"
    }
}

fn reject(
    request: &JobRequest,
    option: &str,
    value: u64,
    alignment: u64,
    path: &str,
    issues: &mut Issues,
) {
    let operation = if request.rw.kind.trims() {
        "Trims"
    } else {
        "Direct I/O"
    };
    let detail = format!(
        "{operation} on {path} must be aligned to {alignment} bytes; {option} results in {value}."
    );
    let example = value.next_multiple_of(alignment);
    let remedy = match option {
        "file_append" => {
            format!("Append to a file whose length is a multiple of {alignment}, or set direct=0.")
        }
        _ if request.direct => {
            format!("Use a multiple of {alignment}, such as {example}, or set direct=0.")
        }
        _ => format!("Use a multiple of {alignment}, such as {example}."),
    };
    issues.invalid("misaligned", option, detail, remedy);
}
