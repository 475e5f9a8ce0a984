//! Computes, from a job's options, how many I/Os and bytes its report must contain.

use crate::files::Case;
use leadline_protocol::{job::rw::RwKind, plan::job::ResolvedJob, report::JobReport};
use serde_json::Value;

/// Inclusive bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub low: u64,
    pub high: u64,
}

impl Bounds {
    pub(crate) fn contain(self, number: u64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

/// Smallest and largest block size in the directions that the pattern uses.
fn block_sizes(rw: RwKind, job: &ResolvedJob) -> (u64, u64) {
    let bs = &job.pattern.bs;
    let all = [
        (rw.reads(), &bs.read),
        (rw.writes(), &bs.write),
        (rw.trims(), &bs.trim),
    ];
    let used = || all.iter().filter(|(used, _)| *used);
    let min = used().map(|(_, bs)| bs.min).min().unwrap();
    (min, used().map(|(_, bs)| bs.max).max().unwrap())
}

/// Total bytes that all workers transfer if neither `runtime` nor `number_ios` limits the job.
fn bytes(requested: &Value, job: &ResolvedJob) -> Bounds {
    let (min, max) = block_sizes(job.pattern.rw, job);
    let has_total = ["io_size", "filesize"].map(|name| !requested[name].is_null());
    let of_worker = |worker| {
        let regions = job.targets_of(worker).map(|(_, target)| target.size);
        let blocks: u64 = regions.map(|size| size / min * min).sum();
        let high = if has_total.contains(&true) {
            job.timing.io_size / min * min
        } else {
            blocks * job.timing.loops
        };
        // The last block is omitted if it does not fit.
        let is_exact = min == max;
        let low = if is_exact {
            high
        } else {
            (high + 1).saturating_sub(max)
        };
        Bounds { low, high }
    };
    let sum = |sum: Bounds, next: Bounds| Bounds {
        low: sum.low + next.low,
        high: sum.high + next.high,
    };
    let none = Bounds { low: 0, high: 0 };
    (0..job.numjobs).map(of_worker).fold(none, sum)
}

fn is_limited_by_time(job: &ResolvedJob) -> bool {
    job.timing.runtime_ms.is_some()
}

/// Bounds on a job's total I/Os and bytes in all directions. The lower bounds are 0 if a ramp, a
/// runtime or `exitall` can reduce them.
pub(crate) fn totals(case: &Case, index: usize, job: &ResolvedJob) -> (Bounds, Bounds) {
    let requested = &case.jobs[index];
    // Every trim is followed by a write.
    let factor = if job.pattern.rw.is_trimwrite() { 2 } else { 1 };
    if !job.is_measured() {
        let none = Bounds { low: 0, high: 0 };
        return (none, none);
    }
    let (min, max) = block_sizes(job.pattern.rw, job);
    let timing = &job.timing;
    // As in fio, the limit applies per worker and pass.
    let passes = timing.loops * u64::from(job.numjobs);
    let limit = timing.number_ios.map(|ios| ios * passes);
    let mut bytes = bytes(requested, job);
    if timing.time_based {
        bytes = Bounds {
            low: bytes.low,
            high: u64::MAX,
        };
    }
    let mut ios = Bounds {
        low: bytes.low.div_ceil(max),
        high: bytes.high / min,
    };
    if let Some(limit) = limit {
        // A worker whose region is shorter may finish before it reaches the limit.
        ios = Bounds {
            low: if job.numjobs == 1 {
                ios.low.min(limit)
            } else {
                1
            },
            high: ios.high.min(limit),
        };
        bytes = Bounds {
            low: ios.low * min,
            high: bytes.high.min(limit * max),
        };
    }
    // The ramp is not measured, `runtime` may end the job before it has transferred its size, and
    // another job may end it.
    let has_exitall = case.jobs.iter().any(|job| job["exitall"] == 1);
    if timing.ramp_ms > 0 || is_limited_by_time(job) || has_exitall {
        (ios.low, bytes.low) = (0, 0);
    }
    let scale = |bounds: Bounds| Bounds {
        low: bounds.low * factor,
        high: bounds.high.saturating_mul(factor),
    };
    (scale(ios), scale(bytes))
}

pub(crate) fn total_ios(report: &JobReport) -> u64 {
    report.read.ios + report.write.ios + report.trim.ios
}

pub(crate) fn total_bytes(report: &JobReport) -> u64 {
    report.read.bytes + report.write.bytes + report.trim.bytes
}
