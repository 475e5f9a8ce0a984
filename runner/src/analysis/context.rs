//! Input of the findings.

use crate::analysis::verdict::{evidence::Evidence, shares::Shares};
use leadline_protocol::{
    evidence::transition::Direction, host::HostFacts, plan::job::ResolvedJob, report::Report,
    verdict::VerdictClass,
};

pub(crate) struct DirectionAnalysis {
    pub evidence: Evidence,
    pub shares: Shares,
    pub class: VerdictClass,
}

pub(crate) struct Context<'a> {
    pub report: &'a Report,
    /// In the order of the report.
    pub jobs: &'a [ResolvedJob],
    pub host: &'a HostFacts,
    /// Directions with I/O.
    pub directions: Vec<DirectionAnalysis>,
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
