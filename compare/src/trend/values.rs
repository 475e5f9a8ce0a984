//! The run values that trends use, so that trends do not have to read reports.

use leadline_protocol::{finding::Finding, metrics::METRICS, report::Report};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Findings about influences other than the test and the host's settings. Settings, such as the CPU
/// frequency governor, are host facts.
pub(crate) const DISTURBANCES: &[&str] = &[
    "busy_at_start",
    "busy_host",
    "foreign_io",
    "host_changed",
    "initial_write",
    "io_errors",
    "runner_paused",
    "short_run",
    "stalled",
    "stopped_early",
    "thermal_throttling",
    "unfinished_ios",
    "unwritten_blocks",
    "warm_cache",
    "writeback_throttled",
];

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RunValues {
    /// Values of the comparison metrics, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Names of the metrics whose values are lower bounds.
    pub lower_bounds: Vec<String>,
    /// Codes of findings about disturbances.
    pub disturbances: Vec<String>,
}

impl RunValues {
    pub fn new(report: &Report, findings: &[Finding]) -> Self {
        let metrics = METRICS.iter().filter_map(|metric| {
            let value = (metric.report?)(report).filter(|value| value.is_finite())?;
            Some((metric, value))
        });
        let metrics = Vec::from_iter(metrics);
        let lower_bounds = metrics
            .iter()
            .filter(|(metric, _)| (metric.lower_bound)(report));
        let codes = findings.iter().map(|finding| finding.code.as_str());
        Self {
            lower_bounds: lower_bounds
                .map(|(metric, _)| metric.name.to_owned())
                .collect(),
            disturbances: codes
                .filter(|code| DISTURBANCES.contains(code))
                .map(str::to_owned)
                .collect(),
            metrics: metrics
                .iter()
                .map(|(metric, value)| (metric.name.to_owned(), *value))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DISTURBANCES;
    use crate::results::FINDINGS;

    #[test]
    fn disturbances_affect_results() {
        assert!(DISTURBANCES.iter().all(|code| FINDINGS.contains(code)));
    }
}
