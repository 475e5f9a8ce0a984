//! Where the I/O of the measured window went, and what a reader of the number must know. Pure: report in, verdict out.
//!
//! What the jobs issued stands beside what the target's block device counted in the same window (`evidence`), one table
//! of thresholds turns that into a class (`class`), and one plain sentence says it (`sentence`). With too little
//! evidence the answer is `unknown`; nothing is guessed. Not here: what could be known before the run (`plan`).

mod class;
mod evidence;
mod findings;
mod late;
mod sentence;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::plan::ResolvedJob;
use crate::report::{Finding, Report, Verdict, VerdictClass, Verdicts};
use evidence::{Direction, Evidence};

/// The verdicts of both directions and the findings of a finished run. `jobs`: as resolved, in the order of the report.
pub fn judge(report: &Report, jobs: &[ResolvedJob]) -> (Verdicts, Vec<Finding>) {
    let judged: Vec<(Evidence, VerdictClass)> = [Direction::Read, Direction::Write]
        .into_iter()
        .filter_map(|direction| Evidence::of(direction, report, jobs))
        .map(|evidence| {
            let class = class::classify(&evidence);
            (evidence, class)
        })
        .collect();
    let verdict = |direction| {
        judged.iter().find(|(evidence, _)| evidence.direction == direction).map(|(evidence, class)| verdict(evidence, *class))
    };
    let verdicts = Verdicts { read: verdict(Direction::Read), write: verdict(Direction::Write) };
    let findings = findings::gather(report, jobs, &judged);
    (verdicts, findings)
}

fn verdict(evidence: &Evidence, class: VerdictClass) -> Verdict {
    Verdict { class, sentence: sentence::sentence(evidence, class), shares: shares(evidence, class), evidence: evidence.numbers() }
}

/// Share of the issued bytes by where they were answered; what a direct I/O did not ask of the device is the filesystem's.
fn shares(evidence: &Evidence, class: VerdictClass) -> BTreeMap<String, f64> {
    let device = match class {
        VerdictClass::Unknown | VerdictClass::NoDevice => return BTreeMap::new(),
        _ => evidence.bytes_ratio().min(1.0),
    };
    let elsewhere = if evidence.direct { "filesystem" } else { "page_cache" };
    [("device", device), (elsewhere, 1.0 - device)].map(|(layer, share)| (layer.to_owned(), share)).into()
}
