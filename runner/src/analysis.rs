//! Derives verdicts, findings and the depth gauge from a report. Performs no I/O.

mod context;
pub(crate) mod estimate;
mod findings;
pub(crate) mod gauge;
pub(crate) mod layer_shares;
pub(crate) mod level_changes;
pub(crate) mod sampled_reads;
pub(crate) mod sampled_writes;
#[cfg(test)]
mod tests;
pub(crate) mod transitions;
mod verdict;

use crate::analysis::{
    context::{Context, DirectionAnalysis},
    findings::findings,
    verdict::{evidence::Evidence, verdict},
};
use leadline_protocol::{
    evidence::transition::Direction, finding::Finding, host::HostFacts, plan::job::ResolvedJob,
    report::Report, verdict::Verdicts,
};

/// The verdicts and findings of a finished run. `jobs` must be in report order.
pub(crate) fn analyze(
    report: &Report,
    jobs: &[ResolvedJob],
    host: &HostFacts,
) -> (Verdicts, Vec<Finding>) {
    let mut directions = Vec::new();
    for direction in [Direction::Read, Direction::Write] {
        if let Some(evidence) = Evidence::of(direction, report, jobs) {
            directions.push(DirectionAnalysis::new(evidence));
        }
    }
    let context = Context {
        report,
        jobs,
        host,
        directions,
    };
    let of = |direction| {
        let analysis = context.direction(direction)?;
        Some(verdict(analysis, report, jobs))
    };
    let verdicts = Verdicts {
        read: of(Direction::Read),
        write: of(Direction::Write),
    };
    (verdicts, findings(&context))
}
