//! Input of the findings: the report, and the verdict of each direction.

use crate::analysis::verdict::evidence::Evidence;
use crate::analysis::verdict::share::Shares;
use leadline_protocol::host::HostFacts;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::report::Report;
use leadline_protocol::verdict::VerdictClass;

/// One direction with its answer.
pub(crate) struct Judged {
    pub evidence: Evidence,
    pub shares: Shares,
    pub class: VerdictClass,
}

/// All that a verdict is made of.
pub(crate) struct Case<'a> {
    pub report: &'a Report,
    pub jobs: &'a [ResolvedJob],
    pub host: &'a HostFacts,
    pub judged: Vec<Judged>,
}
