//! What a reader of the report must know: everything that was seen afterwards and makes the number mean something else
//! than was asked. What could be seen before the run is `plan::findings`'. Here: the list; the checks stand in rooms by what they
//! look at.

pub(crate) mod answered;
pub(crate) mod beneath;
pub(crate) mod cache;
pub(crate) mod host;
pub(crate) mod late;
pub(crate) mod load;
pub(crate) mod rerun;
pub(crate) mod trouble;
pub(crate) mod write;

use crate::analysis::case::Case;
use leadline_protocol::finding::Finding;

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
pub(crate) fn gather(case: &Case) -> Vec<Finding> {
    let by_direction = case
        .judged
        .iter()
        .flat_map(|judged| answered::of(case, judged));
    by_direction
        .chain(CHECKS.iter().filter_map(|check| check(case)))
        .collect()
}
