//! Input of the checks that produce findings.

use crate::analysis::verdict::{
    class::classify,
    evidence::Evidence,
    modifiers::{Transfers, modifiers},
    shares::Shares,
};
use leadline_protocol::{
    evidence::transition::Direction,
    host::HostFacts,
    plan::job::ResolvedJob,
    report::Report,
    verdict::{Modifier, ModifierKind, VerdictClass},
};

pub(crate) struct DirectionAnalysis {
    pub evidence: Evidence,
    pub shares: Shares,
    pub class: VerdictClass,
    pub transfers: Transfers,
    pub modifiers: Vec<Modifier>,
}

impl DirectionAnalysis {
    pub(crate) fn new(evidence: Evidence) -> Self {
        let shares = Shares::of(&evidence);
        let transfers = Transfers::of(&evidence, &shares);
        Self {
            class: classify(&evidence, &shares),
            modifiers: modifiers(&evidence, &shares, &transfers),
            evidence,
            shares,
            transfers,
        }
    }

    pub(crate) fn modifier(&self, kind: ModifierKind) -> Option<&Modifier> {
        self.modifiers.iter().find(|modifier| modifier.kind == kind)
    }
}

pub(crate) struct Context<'a> {
    pub report: &'a Report,
    /// In report order.
    pub jobs: &'a [ResolvedJob],
    pub host: &'a HostFacts,
    /// The directions in which I/O completed.
    pub directions: Vec<DirectionAnalysis>,
}

impl Context<'_> {
    pub(crate) fn direction(&self, direction: Direction) -> Option<&DirectionAnalysis> {
        let mut directions = self.directions.iter();
        directions.find(|analysis| analysis.evidence.direction == direction)
    }

    /// Whether at least one job measures I/O.
    pub(crate) fn is_measured(&self) -> bool {
        self.jobs.iter().any(ResolvedJob::is_measured)
    }

    pub(crate) fn any_job(&self, condition: impl Fn(&ResolvedJob) -> bool) -> bool {
        self.jobs.iter().any(condition)
    }
}
