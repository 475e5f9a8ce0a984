//! The workload of a run, as shown in lists.

use crate::{
    plan::job::{BlockSizes, Mode, ResolvedJob},
    units::size,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Workload of the first job in a run.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct WorkloadSummary {
    /// Number of jobs in the run.
    pub jobs: u32,
    pub mode: Option<Mode>,
    /// First target and the number of other targets in all jobs, such as `/data/t1 +2`.
    pub target: String,
    /// Kernel name of the first target's block device.
    pub device: Option<String>,
    /// For example, `randread`.
    pub rw: String,
    /// Block size, such as `4k`, `4k-64k` or `8k,16k` (reads, writes).
    pub bs: String,
    /// I/Os in flight per worker.
    pub iodepth: u32,
    /// Number of workers.
    pub numjobs: u32,
    /// `O_DIRECT`.
    pub direct: bool,
}

impl WorkloadSummary {
    pub fn new(jobs: &[ResolvedJob]) -> Self {
        let Some(first) = jobs.first() else {
            return Self::default();
        };
        let target = first.targets.first();
        Self {
            jobs: jobs.len() as u32,
            mode: Some(first.mode),
            target: target_text(jobs),
            device: target.and_then(|target| target.device.clone()),
            rw: first.pattern.rw.as_str().into(),
            bs: bs_text(first),
            iodepth: first.ring.iodepth,
            numjobs: first.numjobs,
            direct: first.direct,
        }
    }
}

fn target_text(jobs: &[ResolvedJob]) -> String {
    let mut paths: Vec<&str> = Vec::new();
    for target in jobs.iter().flat_map(|job| &job.targets) {
        if !paths.contains(&target.path.as_str()) {
            paths.push(&target.path);
        }
    }
    match paths.as_slice() {
        [] => String::new(),
        [only] => (*only).into(),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
    }
}

/// Read and write sizes are shown separately only if they differ.
fn bs_text(job: &ResolvedJob) -> String {
    let rw = job.pattern.rw;
    let bs = job.pattern.bs.map(sizes_text);
    match (rw.reads(), rw.writes()) {
        (true, true) if bs.read != bs.write => format!("{},{}", bs.read, bs.write),
        (true, _) => bs.read,
        (_, true) => bs.write,
        _ => bs.trim,
    }
}

fn sizes_text(sizes: &BlockSizes) -> String {
    if sizes.min == sizes.max {
        size(sizes.min)
    } else {
        format!("{}-{}", size(sizes.min), size(sizes.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_one_size_or_a_range() {
        assert_eq!(
            sizes_text(&BlockSizes {
                min: 4096,
                max: 4096,
                split: Vec::new(),
                unaligned: false
            }),
            "4k"
        );
        assert_eq!(
            sizes_text(&BlockSizes {
                min: 4096,
                max: 65536,
                split: Vec::new(),
                unaligned: false
            }),
            "4k-64k"
        );
    }
}
