//! Input of the findings.

use crate::analysis::verdict::evidence::Evidence;
use crate::analysis::verdict::shares::Shares;
use leadline_protocol::evidence::transition::Direction;
use leadline_protocol::host::HostFacts;
use leadline_protocol::plan::job::ResolvedJob;
use leadline_protocol::report::Report;
use leadline_protocol::verdict::VerdictClass;

pub(crate) struct DirectionAnalysis {
    pub(crate) evidence: Evidence,
    pub(crate) shares: Shares,
    pub(crate) class: VerdictClass,
}

pub(crate) struct Context<'a> {
    pub(crate) report: &'a Report,
    /// In the order of the report.
    pub(crate) jobs: &'a [ResolvedJob],
    pub(crate) host: &'a HostFacts,
    /// Directions with I/O.
    pub(crate) directions: Vec<DirectionAnalysis>,
}

impl Context<'_> {
    pub(crate) fn direction(&self, direction: Direction) -> Option<&DirectionAnalysis> {
        let mut directions = self.directions.iter();
        directions.find(|analysis| analysis.evidence.direction == direction)
    }

    pub(crate) fn any_job(&self, condition: impl Fn(&ResolvedJob) -> bool) -> bool {
        self.jobs.iter().any(condition)
    }
}
