//! Input of a comparison.

use leadline_protocol::{
    finding::Finding, host::HostFacts, plan::job::ResolvedJob, report::Report, run::Run,
    status::RunStatus, verdict::Verdicts,
};

/// A group of repeats of a test.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub label: String,
    pub runs: Vec<ComparedRun<'a>>,
}

#[derive(Clone, Debug)]
pub struct ComparedRun<'a> {
    /// For example, `#12` or a file name.
    pub label: String,
    /// Null for a result that is not stored on the server.
    pub number: Option<u64>,
    pub status: RunStatus,
    pub sample_ms: u32,
    pub resolved: &'a [ResolvedJob],
    pub host: Option<&'a HostFacts>,
    pub report: Option<&'a Report>,
    pub verdict: Option<&'a Verdicts>,
    pub findings: &'a [Finding],
    pub block: Option<Block>,
}

/// Runs of different groups in the same block form a pair: they ran one after the other, in random
/// order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Block {
    pub study: u64,
    /// One-based.
    pub repeat: u32,
}

impl Group<'_> {
    /// Runs that are included in the statistics.
    pub fn complete(&self) -> impl Iterator<Item = &ComparedRun<'_>> {
        self.runs.iter().filter(|run| run.is_complete())
    }
}

impl<'a> ComparedRun<'a> {
    pub fn new(run: &'a Run, block: Option<Block>) -> Self {
        Self {
            label: format!("#{}", run.summary.number),
            number: Some(run.summary.number),
            status: run.summary.status,
            sample_ms: run.sample_ms,
            resolved: run.resolved.as_deref().unwrap_or_default(),
            host: run.host_facts.as_ref(),
            report: run.report.as_ref(),
            verdict: run.verdict.as_ref(),
            findings: &run.findings,
            block,
        }
    }

    /// Whether the run measured everything that was requested, until its end.
    pub fn is_complete(&self) -> bool {
        self.status == RunStatus::Done && self.report.is_some()
    }

    pub(crate) fn has_finding(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }
}

/// The runs of all groups, in group order.
pub(crate) fn all_runs<'g, 'a>(
    groups: &'g [Group<'a>],
) -> impl Iterator<Item = &'g ComparedRun<'a>> {
    groups.iter().flat_map(|group| &group.runs)
}
