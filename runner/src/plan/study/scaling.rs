//! Scales a study to the host: all sizes are halved until they meet the study's size limits, so
//! that the steps keep their proportions.

use crate::plan::host_view::{HostView, PathKind};
use leadline_protocol::{
    format::bytes,
    job::{Job, size::Extent},
    study::{
        scaling::{Scale, Scaled},
        spec::StudySpec,
    },
};
use std::collections::BTreeMap;

/// The largest size is not halved below 1 MiB, because startup would dominate the results.
const MIN_BYTES: u64 = 1 << 20;

struct Limit {
    requested: u64,
    max: u64,
    description: String,
}

impl Limit {
    /// Limit of `percent` of the `available` bytes.
    fn share(requested: u64, percent: u8, available: u64, resource: &str) -> Self {
        Self {
            requested,
            max: (u128::from(available) * u128::from(percent) / 100) as u64,
            description: format!("{percent} % of the {resource} ({})", bytes(available)),
        }
    }
}

pub(crate) fn scale(study: &StudySpec, host: &dyn HostView) -> Scaled {
    let jobs: Vec<&Job> = study.steps.iter().flat_map(|step| &step.run.jobs).collect();
    let largest = jobs.iter().map(|job| size_bytes(job)).max().unwrap_or(0);
    let limits = limits(&study.scale, &jobs, largest, host);
    let mut scaled = Scaled {
        note: study.scale.note.clone(),
        ..Scaled::unscaled(largest)
    };
    let mut divisor = 1;
    while largest / divisor / 2 >= MIN_BYTES
        && limits
            .iter()
            .any(|limit| limit.requested / divisor > limit.max)
    {
        divisor *= 2;
    }
    let tightest = limits
        .iter()
        .max_by_key(|limit| limit.requested / limit.max.max(1));
    if let Some(limit) = tightest
        && divisor > 1
    {
        scaled.divided_by = divisor;
        scaled.largest_bytes = largest / divisor;
        scaled.sentence = format!(
            "Sizes are divided by {divisor} (at most {} instead of {}) to stay within {}.",
            bytes(scaled.largest_bytes),
            bytes(largest),
            limit.description
        );
    }
    scaled
}

fn limits(scale: &Scale, jobs: &[&Job], largest: u64, host: &dyn HostView) -> Vec<Limit> {
    let mut limits = Vec::new();
    if let Some(max) = scale.max_size {
        limits.push(Limit {
            requested: largest,
            max,
            description: format!("max_size ({})", bytes(max)),
        });
    }
    if let Some(percent) = scale.memory_percent {
        let available = host.available_memory();
        limits.push(Limit::share(
            largest,
            percent,
            available,
            "available memory",
        ));
    }
    if let Some(percent) = scale.free_percent
        && let Some(free) = free_bytes(jobs, host)
    {
        limits.push(Limit::share(footprint(jobs), percent, free, "free space"));
    }
    limits
}

/// Free space on the filesystem of the first file; `None` if all targets are devices.
fn free_bytes(jobs: &[&Job], host: &dyn HostView) -> Option<u64> {
    jobs.iter()
        .map(|job| host.path(&path(job)))
        .find(|facts| facts.kind != PathKind::Device)
        .map(|facts| facts.free_bytes)
}

/// Path of the job's first file.
fn path(job: &Job) -> String {
    let names = job.filename.as_ref().map(|files| files.0.as_slice());
    let file = match names {
        Some([first, ..]) => first,
        _ => job.name.as_deref().unwrap_or("job"),
    };
    match job.directory.as_deref() {
        None | Some("") => file.to_owned(),
        Some(directory) => format!("{directory}/{file}"),
    }
}

/// `size` in bytes; 0 if it is a percentage or not set.
fn size_bytes(job: &Job) -> u64 {
    job.size.and_then(Extent::bytes).unwrap_or(0)
}

/// Space needed by all of the study's files: the largest size of each file, plus appended data.
fn footprint(jobs: &[&Job]) -> u64 {
    let mut files: BTreeMap<String, u64> = BTreeMap::new();
    for job in jobs {
        let copies = match job.filename {
            Some(_) => 1,
            None => u64::from(job.numjobs.unwrap_or(1)),
        };
        let size = size_bytes(job).saturating_mul(copies);
        let file = files.entry(path(job)).or_default();
        *file = if job.file_append() {
            file.saturating_add(size)
        } else {
            size.max(*file)
        };
    }
    files.into_values().fold(0, u64::saturating_add)
}
