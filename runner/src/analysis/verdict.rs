//! The layer that served the I/O of each direction. Performs no I/O.
//!
//! `evidence` collects what was issued and what every layer counted, `shares` divides the issued
//! bytes among the layers, `class` maps the shares to a class with the thresholds in `threshold`,
//! `sentence` describes the result, and `proof` lists the counters with the commands that show
//! them. With too little evidence the class is `unknown`.

pub(crate) mod class;
pub(crate) mod evidence;
pub(crate) mod metadata;
pub(crate) mod proof;
pub(crate) mod sentence;
pub(crate) mod shares;
pub(crate) mod threshold;

use crate::analysis::{
    context::DirectionAnalysis,
    verdict::{proof::proof, sentence::sentence},
};
use leadline_protocol::{
    phase::Phase,
    plan::job::ResolvedJob,
    report::Report,
    verdict::{Verdict, VerdictClass},
};

pub(crate) fn verdict(
    direction: &DirectionAnalysis,
    report: &Report,
    jobs: &[ResolvedJob],
) -> Verdict {
    let DirectionAnalysis {
        evidence,
        shares,
        class,
    } = direction;
    let mut phases = report.phases.iter();
    let measure = phases.find(|phase| phase.phase == Phase::Measure);
    let measure_ms = measure.map_or(0.0, |phase| phase.start_ms);
    let mut verdict = Verdict {
        class: *class,
        sentence: sentence(evidence, shares, *class, measure_ms),
        shares: Default::default(),
        uncertainty: 0.0,
        transition_ms: evidence.transition_ms,
        evidence: evidence.numbers(),
        proof: proof(evidence, report, jobs),
    };
    if *class != VerdictClass::Unknown && evidence.no_device.is_none() {
        verdict.shares = shares.by_name();
        verdict.uncertainty = shares.uncertainty;
    }
    verdict
}
