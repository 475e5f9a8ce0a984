//! Determines which layer served each direction's I/O. Performs no I/O.
//!
//! `evidence` collects the issued I/O, the layers of the sampled I/Os, and every layer's counters.
//! `shares` divides the I/Os among the layers, within limits set by the counters (`limits`).
//! `class` maps the shares to a class with the thresholds in `threshold`; `modifiers` describe
//! other effects, such as readahead and merging. `sentence` describes the result, and `proof` lists
//! the counters and the commands that print them. If there is too little evidence, the class is
//! `unknown`.

pub(crate) mod class;
pub(crate) mod evidence;
pub(crate) mod limits;
pub(crate) mod metadata;
pub(crate) mod modifiers;
pub(crate) mod percentage;
pub(crate) mod proof;
pub(crate) mod sentence;
pub(crate) mod shares;
pub(crate) mod threshold;
pub(crate) mod unknown;

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
    let mut phases = report.phases.iter();
    let measure = phases.find(|phase| phase.phase == Phase::Measure);
    let measure_ms = measure.map_or(0.0, |phase| phase.start_ms);
    let evidence = &direction.evidence;
    let mut verdict = Verdict {
        class: direction.class,
        sentence: sentence(direction, measure_ms),
        shares: Default::default(),
        byte_shares: Default::default(),
        modifiers: direction.modifiers.clone(),
        uncertainty: 0.0,
        transition_ms: evidence.transition_ms,
        evidence: evidence.numbers(),
        proof: proof(evidence, report, jobs),
    };
    if direction.class != VerdictClass::Unknown && evidence.estimate.is_some() {
        verdict.shares = direction.shares.by_name();
        verdict.byte_shares = direction.shares.bytes_by_name();
        verdict.uncertainty = direction.shares.uncertainty;
    }
    verdict
}
