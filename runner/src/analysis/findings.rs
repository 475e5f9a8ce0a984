//! Findings that affect how a result is interpreted and that are known only after the run. Findings
//! that are known before the run are in `plan::findings`.

mod cache_state;
mod coordinated_omission;
mod errors;
mod foreign_io;
mod from_verdict;
mod host;
mod level_changed;
mod limits;
mod lower_devices;
mod missing_counters;
mod missing_time;
mod overload;
pub(crate) mod questions;
mod rerun;
mod run_length;
mod saturation;
mod steady_state;
mod verify;
mod writes;

use crate::analysis::context::Context;
use leadline_protocol::finding::Finding;

type Check = fn(&Context) -> Option<Finding>;

/// Checks that apply to the whole run; those in `from_verdict` apply to each direction.
const CHECKS: &[Check] = &[
    errors::io_errors,
    verify::bad_blocks,
    verify::unverified,
    missing_time::stalled,
    missing_time::runner_paused,
    missing_time::unfinished_ios,
    limits::violated_limit,
    run_length::stopped_early,
    run_length::short_run,
    level_changed::level_changed,
    overload::overloaded,
    steady_state::not_reached,
    steady_state::steady_without_io,
    missing_counters::device_counters_missing,
    cache_state::warm_cache,
    cache_state::invalidate_keeps_dirty,
    cache_state::raw_buffered,
    cache_state::loop_without_direct_io,
    writes::initial_write,
    writes::overwrite,
    writes::read_before_write,
    writes::not_flushed,
    writes::writeback_throttled,
    writes::dirty_limit_not_reached,
    writes::device_cache,
    saturation::depth_not_reached,
    coordinated_omission::coordinated_omission,
    saturation::cpu_bound,
    foreign_io::foreign_io,
    lower_devices::lower_device_amplification,
    questions::answered,
    host::slow_clock,
    host::frequency_governor,
    host::thermal_throttling,
    host::host_changed,
];

/// Checks that apply to runs that measure nothing (`verify_only`, `create_only`).
const VERIFY_ONLY_CHECKS: &[Check] = &[
    verify::bad_blocks,
    verify::unverified,
    run_length::stopped_early,
];

pub(crate) fn findings(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    for direction in &context.directions {
        findings.extend(from_verdict::findings(context, direction));
    }
    let checks = if context.is_measured() {
        CHECKS
    } else {
        VERIFY_ONLY_CHECKS
    };
    findings.extend(checks.iter().filter_map(|check| check(context)));
    findings
}
