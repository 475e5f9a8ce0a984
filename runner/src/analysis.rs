pub(crate) mod case;
pub(crate) mod findings;
pub(crate) mod gauge;
pub(crate) mod transitions;
pub(crate) mod verdict;

use crate::analysis::case::Case;
use crate::analysis::case::Judged;
use crate::analysis::verdict::evidence::Evidence;
use crate::analysis::verdict::share::Shares;
use crate::analysis::verdict::verdict;
use leadline_protocol::evidence::Direction;
use leadline_protocol::finding::Finding;
use leadline_protocol::host::HostFacts;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::report::Report;
use leadline_protocol::verdict::Verdicts;

/// The verdicts of both directions and the findings of a finished run. `jobs`: as resolved, in the order of the report.
pub(crate) fn judge(
    report: &Report,
    jobs: &[ResolvedJob],
    host: &HostFacts,
) -> (Verdicts, Vec<Finding>) {
    let directions = [Direction::Read, Direction::Write].into_iter();
    let judged = directions
        .filter_map(|direction| Evidence::of(direction, report, jobs))
        .map(|evidence| {
            let shares = Shares::of(&evidence);
            Judged {
                class: crate::analysis::verdict::class::classify(&evidence, &shares),
                evidence,
                shares,
            }
        });
    let case = Case {
        report,
        jobs,
        host,
        judged: judged.collect(),
    };
    let verdict = |direction| {
        let judged = case
            .judged
            .iter()
            .find(|judged| judged.evidence.direction == direction);
        judged.map(|judged| verdict(judged, report, jobs))
    };
    let verdicts = Verdicts {
        read: verdict(Direction::Read),
        write: verdict(Direction::Write),
    };
    (verdicts, findings::gather(&case))
}
