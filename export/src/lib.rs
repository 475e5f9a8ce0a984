//! Writes runs in fio's formats, for programs that read fio's output, and reads fio results.
//! `docs/fio-output.md` lists the fields that cannot be filled. Pure.

pub mod fio;
pub mod windows;

use crate::windows::Windows;
use leadline_protocol::{
    plan::job::ResolvedJob,
    report::{
        JobReport, Report,
        stats::{DirectionStats, LatencyStats},
    },
};
use serde_json::Value;

/// A run with a result.
pub struct FinishedRun<'a> {
    requested: &'a [Value],
    resolved: &'a [ResolvedJob],
    report: Report,
    windows: &'a Windows,
}

/// A job of a run with its results.
#[derive(Clone, Copy)]
pub(crate) struct FinishedJob<'a> {
    pub(crate) requested: &'a Value,
    pub(crate) resolved: &'a ResolvedJob,
    pub(crate) report: &'a JobReport,
}

impl<'a> FinishedRun<'a> {
    /// `requested` contains one JSON object per job, and `resolved` has the same order. `windows`:
    /// the run's throughput over time.
    pub fn new(
        requested: &'a [Value],
        resolved: &'a [ResolvedJob],
        report: &Report,
        windows: &'a Windows,
    ) -> Self {
        let mut report = report.clone();
        for job in &mut report.jobs {
            if job.engine.is_synchronous() {
                for direction in [&mut job.read, &mut job.write, &mut job.trim] {
                    count_calls_as_completion(direction);
                }
            }
        }
        Self {
            requested,
            resolved,
            report,
            windows,
        }
    }

    /// Reports of old runs may have no jobs.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = FinishedJob<'_>> {
        let jobs = self.requested.iter().zip(self.resolved);
        jobs.zip(&self.report.jobs)
            .map(|((requested, resolved), report)| FinishedJob {
                requested,
                resolved,
                report,
            })
    }
}

/// With synchronous engines, the time in the system call is submission latency in Leadline. In fio,
/// it is completion latency, and there is no slat (`FIO_SYNCIO` in `td_io_queue`).
fn count_calls_as_completion(direction: &mut DirectionStats) {
    direction.clat_ns = direction.lat_ns.clone();
    direction.slat_ns = LatencyStats::default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synchronous_calls_are_completion_latency() {
        let latency = |mean| LatencyStats {
            mean: Some(mean),
            count: 7,
            ..LatencyStats::default()
        };
        let mut direction = DirectionStats {
            slat_ns: latency(90.0),
            clat_ns: latency(1.0),
            lat_ns: latency(91.0),
            ..DirectionStats::default()
        };
        count_calls_as_completion(&mut direction);
        assert_eq!(direction.clat_ns, latency(91.0));
        assert_eq!(direction.slat_ns.count, 0);
    }
}
