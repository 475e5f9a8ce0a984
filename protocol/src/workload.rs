//! What lists show of a run's work, told from its resolved jobs. Pure.

use crate::plan::resolved::{BlockSizes, Mode, ResolvedJob};
use crate::units::size;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The workload of a run's first job, as lists show it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Workload {
    /// How many jobs the run has.
    pub jobs: u32,
    /// The plain name of the path to the device.
    pub mode: Option<Mode>,
    /// First target, and how many there are besides in all jobs, such as `/data/t1 +2`.
    pub target: String,
    /// Kernel name of the block device under the first target.
    pub device: Option<String>,
    /// Pattern, such as `randread`.
    pub rw: String,
    /// Block size, such as `4k`, `4k-64k` or `8k,16k` (reads, writes).
    pub bs: String,
    /// I/Os that each clone keeps in flight.
    pub iodepth: u32,
    /// Clones.
    pub numjobs: u32,
    /// Past the page cache.
    pub direct: bool,
}

impl Workload {
    /// Of these jobs.
    pub fn of(jobs: &[ResolvedJob]) -> Self {
        let Some(first) = jobs.first() else {
            return Self::default();
        };
        Self {
            jobs: jobs.len() as u32,
            mode: Some(first.mode),
            target: target_text(jobs),
            device: first
                .targets
                .first()
                .and_then(|target| target.device.clone()),
            rw: format!("{:?}", first.pattern.rw).to_lowercase(),
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

/// The sizes of the directions that the pattern has, told apart only where they differ.
fn bs_text(job: &ResolvedJob) -> String {
    let (read, write, trim) = (
        sizes_text(&job.pattern.bs.read),
        sizes_text(&job.pattern.bs.write),
        sizes_text(&job.pattern.bs.trim),
    );
    match (job.pattern.rw.reads(), job.pattern.rw.writes()) {
        (true, true) if read != write => format!("{read},{write}"),
        (true, _) => read,
        (_, true) => write,
        _ => trim,
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
    fn sizes_are_shown_as_one_or_as_a_range() {
        assert_eq!(
            sizes_text(&BlockSizes {
                min: 4096,
                max: 4096,
                split: Vec::new()
            }),
            "4k"
        );
        assert_eq!(
            sizes_text(&BlockSizes {
                min: 4096,
                max: 65536,
                split: Vec::new()
            }),
            "4k-64k"
        );
    }
}
