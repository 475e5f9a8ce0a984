//! Where the I/O of the measured window went, and what a reader of the number must know. Pure: report in, verdict out.
//!
//! What the jobs issued stands beside what every layer counted in the same window (`evidence`). The issued bytes are divided
//! among the layers (`share`), one table of rules turns that into a class (`class`, `threshold`), one plain sentence
//! says it (`sentence`), and `proof` shows how to check it. With too little evidence the answer is `unknown`; nothing is
//! guessed. Not here: what could be known before the run (`plan`).

mod class;
mod evidence;
mod findings;
mod metadata;
mod proof;
mod sentence;
mod share;
#[cfg(test)]
mod tests;
mod threshold;

use crate::event::Phase;
use crate::host::HostFacts;
use crate::plan::ResolvedJob;
use crate::report::{Finding, Report, Verdict, VerdictClass, Verdicts};
use evidence::{Direction, Evidence};
use share::Shares;

/// One direction with its answer.
struct Judged {
    evidence: Evidence,
    shares: Shares,
    class: VerdictClass,
}

/// All that a verdict is made of.
struct Case<'a> {
    report: &'a Report,
    jobs: &'a [ResolvedJob],
    host: &'a HostFacts,
    judged: Vec<Judged>,
}

/// The verdicts of both directions and the findings of a finished run. `jobs`: as resolved, in the order of the report.
pub fn judge(report: &Report, jobs: &[ResolvedJob], host: &HostFacts) -> (Verdicts, Vec<Finding>) {
    let directions = [Direction::Read, Direction::Write].into_iter();
    let judged = directions
        .filter_map(|direction| Evidence::of(direction, report, jobs))
        .map(|evidence| {
            let shares = Shares::of(&evidence);
            Judged {
                class: class::classify(&evidence, &shares),
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

fn verdict(judged: &Judged, report: &Report, jobs: &[ResolvedJob]) -> Verdict {
    let Judged {
        evidence,
        shares,
        class,
    } = judged;
    let is_told = !matches!(class, VerdictClass::Unknown) && evidence.deviceless.is_none();
    let measure_ms = report
        .phases
        .iter()
        .find(|phase| phase.phase == Phase::Measure)
        .map_or(0.0, |phase| phase.start_ms);
    Verdict {
        class: *class,
        sentence: sentence::sentence(evidence, shares, *class, measure_ms),
        shares: if is_told {
            shares.by_name()
        } else {
            Default::default()
        },
        uncertainty: if is_told { shares.uncertainty } else { 0.0 },
        transition_ms: evidence.transition_ms,
        evidence: evidence.numbers(),
        proof: proof::rows(evidence, report, jobs),
    }
}
