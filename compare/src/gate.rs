//! Reasons why the rules of a gate cannot pass, regardless of the numbers.

use crate::{
    group::{Group, all_runs},
    layers,
};
use leadline_protocol::format::plural;

/// Returns the reason as a sentence. Rules cannot pass while runs are active, or if the I/O of the
/// two groups came from different sources, such as memory and a device: more IOPS from a cache do
/// not show that the storage is at least as fast.
#[must_use]
pub fn gate_obstacle(groups: &[Group; 2]) -> Option<String> {
    let active = all_runs(groups)
        .filter(|run| !run.status.is_final())
        .count();
    if active > 0 {
        let runs = plural(active as u64, "run");
        let verb = if active == 1 { "has" } else { "have" };
        return Some(format!("{runs} in these groups {verb} not ended."));
    }
    layers::source_difference(groups)
}
