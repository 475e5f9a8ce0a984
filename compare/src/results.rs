//! Differences in verdicts and findings between runs.

use crate::{group::ComparedRun, scope::Scope};
use leadline_protocol::{compare::Difference, verdict::Verdict};

/// Findings about influences other than the tested settings. Most findings describe settings, such
/// as a queue depth of 1, and differ only if the settings do.
pub(crate) const FINDINGS: &[&str] = &[
    "busy_at_start",
    "busy_host",
    "device_cache",
    "direct_io_fallback",
    "foreign_io",
    "frequency_governor",
    "host_changed",
    "initial_write",
    "io_errors",
    "loop_without_direct_io",
    "runner_paused",
    "short_run",
    "slow_clock",
    "stalled",
    "steady_state_not_reached",
    "stopped_early",
    "thermal_throttling",
    "unfinished_ios",
    "unwritten_blocks",
    "warm_cache",
    "writeback_throttled",
];

pub(crate) fn compare_results(scope: &Scope) -> Vec<Difference> {
    let verdicts = [
        ("read verdict", read_class as fn(&ComparedRun) -> _),
        ("write verdict", write_class),
    ];
    let verdicts = verdicts
        .into_iter()
        .filter_map(|(name, value)| difference(scope, name, value));
    let findings = FINDINGS.iter().filter_map(|code| {
        difference(scope, &format!("finding {code}"), |run| {
            Some(if run.has_finding(code) { "yes" } else { "no" }.into())
        })
    });
    verdicts.chain(findings).collect()
}

fn read_class(run: &ComparedRun) -> Option<String> {
    class_name(run.verdict?.read.as_ref())
}

fn write_class(run: &ComparedRun) -> Option<String> {
    class_name(run.verdict?.write.as_ref())
}

fn class_name(verdict: Option<&Verdict>) -> Option<String> {
    Some(verdict?.class.as_str().into())
}

fn difference(
    scope: &Scope,
    name: &str,
    value: impl Fn(&ComparedRun) -> Option<String>,
) -> Option<Difference> {
    let values = scope.values(value);
    scope.is_different(&values).then(|| Difference {
        name: name.into(),
        values,
        is_harmful: true,
    })
}
