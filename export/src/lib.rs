//! Writes a run in fio's formats, so that programs that read fio's output also read Leadline's.
//! `docs/fio-output.md` lists the fields that cannot be filled. Pure.

pub mod fio;
pub mod windows;

use crate::windows::Windows;
use leadline_protocol::{
    plan::job::ResolvedJob,
    report::{JobReport, Report},
};
use serde_json::Value;

/// A run with a result.
pub struct FinishedRun<'a> {
    /// One JSON object per job, as requested.
    pub requested: &'a [Value],
    /// In the same order.
    pub resolved: &'a [ResolvedJob],
    pub report: &'a Report,
    /// Throughput of the run over time.
    pub windows: &'a Windows,
}

/// A job of a run with its results.
#[derive(Clone, Copy)]
pub(crate) struct FinishedJob<'a> {
    pub(crate) requested: &'a Value,
    pub(crate) resolved: &'a ResolvedJob,
    pub(crate) report: &'a JobReport,
}

impl FinishedRun<'_> {
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
