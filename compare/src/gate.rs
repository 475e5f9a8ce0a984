//! Why rules of a gate cannot pass, whatever the numbers are.

use crate::{
    group::{Group, all_runs},
    layers,
};
use leadline_protocol::format::plural;

/// Returns a sentence if runs have not ended, or if the runs of one group were served from memory
/// and those of the other were not: more IOPS from a cache do not show that the storage is not
/// slower.
#[must_use]
pub fn gate_obstacle(groups: &[Group; 2]) -> Option<String> {
    let active = all_runs(groups)
        .filter(|run| !run.status.is_final())
        .count();
    if active > 0 {
        let runs = plural(active as u64, "run");
        return Some(format!("{runs} of these groups have not ended."));
    }
    layers::memory_difference(groups)
}
