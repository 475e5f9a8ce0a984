//! What lists show of a run, told from its resolved jobs and its report. Pure.

use leadline_runner::histogram;
use leadline_runner::plan::{BlockSizes, Mode, ResolvedJob};
use leadline_runner::report::{DirStats, Report, VerdictClass, Verdicts};
use leadline_runner::units::size;
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
        let Some(first) = jobs.first() else { return Self::default() };
        Self {
            jobs: jobs.len() as u32,
            mode: Some(first.mode),
            target: target_text(jobs),
            device: first.targets.first().and_then(|target| target.device.clone()),
            rw: format!("{:?}", first.rw).to_lowercase(),
            bs: bs_text(first),
            iodepth: first.iodepth,
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
    let (read, write, trim) = (sizes_text(&job.bs.read), sizes_text(&job.bs.write), sizes_text(&job.bs.trim));
    match (job.rw.reads(), job.rw.writes()) {
        (true, true) if read != write => format!("{read},{write}"),
        (true, _) => read,
        (_, true) => write,
        _ => trim,
    }
}

fn sizes_text(sizes: &BlockSizes) -> String {
    if sizes.min == sizes.max { size(sizes.min) } else { format!("{}-{}", size(sizes.min), size(sizes.max)) }
}

/// The figures of a report that lists show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// I/Os a second, all directions.
    pub iops: Option<f64>,
    /// Bytes a second, all directions.
    pub bytes_per_second: Option<f64>,
    /// Median latency, all directions.
    pub lat_p50_ns: Option<u64>,
    /// 99th percentile of latency, all directions.
    pub lat_p99_ns: Option<u64>,
    /// Longest latency, all directions.
    pub lat_max_ns: Option<u64>,
    /// Class of the direction with the most bytes.
    pub verdict: Option<VerdictClass>,
}

impl Figures {
    /// Of this report.
    pub fn of(report: &Report, verdicts: &Verdicts) -> Self {
        let directions = [&report.read, &report.write, &report.trim];
        let percentiles = histogram::percentiles(&merged_buckets(&directions), &[50.0, 99.0]);
        let main = if report.read.bytes >= report.write.bytes {
            verdicts.read.as_ref().or(verdicts.write.as_ref())
        } else {
            verdicts.write.as_ref()
        };
        Self {
            iops: Some(directions.iter().map(|stats| stats.iops).sum()),
            bytes_per_second: Some(directions.iter().map(|stats| stats.bytes_per_second).sum()),
            lat_p50_ns: percentiles.first().copied(),
            lat_p99_ns: percentiles.get(1).copied(),
            lat_max_ns: directions.iter().filter_map(|stats| stats.lat_ns.max).max(),
            verdict: main.map(|verdict| verdict.class),
        }
    }
}

fn merged_buckets(directions: &[&DirStats]) -> Vec<(u32, u64)> {
    let mut sum = std::collections::BTreeMap::new();
    for (bucket, count) in directions.iter().flat_map(|stats| &stats.lat_ns.buckets) {
        *sum.entry(*bucket).or_insert(0) += count;
    }
    sum.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_one_or_as_a_range() {
        assert_eq!(sizes_text(&BlockSizes { min: 4096, max: 4096, split: Vec::new() }), "4k");
        assert_eq!(sizes_text(&BlockSizes { min: 4096, max: 65536, split: Vec::new() }), "4k-64k");
    }

    fn direction(bytes: u64, buckets: &[(u32, u64)]) -> DirStats {
        let ios = buckets.iter().map(|bucket| bucket.1).sum();
        let mut stats = DirStats { ios, bytes, iops: ios as f64, bytes_per_second: bytes as f64, ..DirStats::default() };
        stats.lat_ns.buckets = buckets.to_vec();
        stats.lat_ns.max = buckets.last().map(|bucket| u64::from(bucket.0));
        stats
    }

    #[test]
    fn latencies_of_all_directions_are_merged() {
        let (read, write) = (direction(10, &[(5, 90), (7, 1)]), direction(20, &[(7, 8), (100, 1)]));
        let merged = merged_buckets(&[&read, &write]);
        assert_eq!(merged, [(5, 90), (7, 9), (100, 1)]);
        assert_eq!(histogram::percentiles(&merged, &[50.0, 99.0]), [5, 7]);
    }
}
