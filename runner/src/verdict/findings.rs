//! What a reader of the report must know: everything that was seen afterwards and makes the number mean something else
//! than was asked. What could be seen before the run is `plan::findings`'. Here: the list; the checks stand in rooms by what they
//! look at.

mod answered;
mod beneath;
mod cache;
mod host;
mod late;
mod load;
mod trouble;
mod write;

use serde_json::{Value, json};

use super::Case;
use crate::report::{Finding, Severity};

/// One question to a report.
type Check = fn(&Case) -> Option<Finding>;

/// All that are asked once; those in `answered` are asked for each direction.
const CHECKS: &[Check] = &[
    trouble::errors,
    trouble::interrupted,
    trouble::short_run,
    trouble::counters_absent,
    cache::warm,
    cache::dirty_left,
    cache::buffers,
    cache::loop_cached,
    write::initial,
    write::overwritten,
    write::not_flushed,
    write::throttled,
    write::below_limit,
    write::device_cache,
    load::depth,
    late::late,
    load::cpu,
    load::others,
    beneath::more,
    host::clock,
    host::governor,
    host::heat,
];

/// All that is true of this report.
pub(super) fn gather(case: &Case) -> Vec<Finding> {
    let by_direction = case.judged.iter().flat_map(|judged| answered::of(case, judged));
    by_direction.chain(CHECKS.iter().filter_map(|check| check(case))).collect()
}

fn finding(severity: Severity, code: &str, sentence: String, evidence: &[(&str, Value)], remedy: &str) -> Finding {
    let evidence = evidence.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Finding { code: code.into(), severity, sentence, evidence, remedy: remedy.into(), patch: None, patch_label: None }
}

impl Finding {
    /// With the rerun that mends it: what its button says, and the options that change in every job.
    fn rerun(self, label: &str, patch: Value) -> Self {
        let Value::Object(options) = patch else { unreachable!("a patch is an object of job options") };
        Self { patch: Some(options.into_iter().collect()), patch_label: Some(label.into()), ..self }
    }

    /// Mended by the same job at a better time.
    fn again(self) -> Self {
        self.rerun("Run again", json!({}))
    }
}
