//! Where the I/O of the measured window went, and what a reader of the number must know. Pure: report in, verdict out.
//!
//! What the jobs issued stands beside what every layer counted in the same window (`evidence`). The issued bytes are divided
//! among the layers (`share`), one table of rules turns that into a class (`class`, `threshold`), one plain sentence
//! says it (`sentence`), and `proof` shows how to check it. With too little evidence the answer is `unknown`; nothing is
//! guessed. Not here: what could be known before the run (`plan`).

pub(crate) mod class;
pub(crate) mod evidence;
pub(crate) mod metadata;
pub(crate) mod proof;
pub(crate) mod sentence;
pub(crate) mod share;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod threshold;

use crate::analysis::case::Judged;
use leadline_protocol::phase::Phase;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::report::Report;
use leadline_protocol::verdict::{Verdict, VerdictClass};

pub(crate) fn verdict(judged: &Judged, report: &Report, jobs: &[ResolvedJob]) -> Verdict {
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
