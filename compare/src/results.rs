//! Verdicts and findings that differ between runs.

use crate::group::{ComparedRun, Group, all_runs};
use leadline_protocol::{compare::Difference, verdict::Verdict};

/// Findings that change results from outside of the tested settings. Most findings describe the
/// settings, such as a queue depth of 1; a difference of those is a difference of settings.
const FINDINGS: &[&str] = &[
    "busy_host",
    "device_cache",
    "direct_io_fallback",
    "foreign_io",
    "frequency_governor",
    "initial_write",
    "io_errors",
    "loop_without_direct_io",
    "runner_paused",
    "short_run",
    "slow_clock",
    "stalled",
    "stopped_early",
    "thermal_throttling",
    "unfinished_ios",
    "unwritten_blocks",
    "warm_cache",
    "writeback_throttled",
];

pub(crate) fn compare_results(groups: &[Group]) -> Vec<Difference> {
    let runs: Vec<&ComparedRun> = all_runs(groups)
        .filter(|run| run.report.is_some())
        .collect();
    if runs.len() < 2 {
        return Vec::new();
    }
    let verdicts = [
        ("read verdict", class as fn(&ComparedRun) -> _),
        ("write verdict", write_class),
    ];
    let verdicts = verdicts
        .into_iter()
        .filter_map(|(name, value)| difference(groups, name, value));
    let findings = FINDINGS.iter().filter_map(|code| {
        difference(groups, &format!("finding {code}"), |run| {
            Some(if run.has_finding(code) { "yes" } else { "no" }.into())
        })
    });
    verdicts.chain(findings).collect()
}

fn class(run: &ComparedRun) -> Option<String> {
    class_of(run.verdict?.read.as_ref())
}

fn write_class(run: &ComparedRun) -> Option<String> {
    class_of(run.verdict?.write.as_ref())
}

fn class_of(verdict: Option<&Verdict>) -> Option<String> {
    Some(verdict?.class.as_str().into())
}

/// A difference between runs with a report.
fn difference(
    groups: &[Group],
    name: &str,
    value: impl Fn(&ComparedRun) -> Option<String>,
) -> Option<Difference> {
    let values: Vec<Option<String>> = all_runs(groups)
        .map(|run| run.report.and_then(|_| value(run)))
        .collect();
    let mut known = all_runs(groups)
        .zip(&values)
        .filter(|(run, _)| run.report.is_some())
        .map(|(_, value)| value);
    let first = known.next()?;
    let differs = known.any(|value| value != first);
    differs.then(|| Difference {
        name: name.into(),
        values,
        is_harmful: true,
    })
}
