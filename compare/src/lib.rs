//! Compares groups of runs: whether they may be compared, how each metric changed and how certain
//! that is, and which settings and host facts differ. Pure; used by the server and by
//! `leadline-runner compare`.

mod answer;
pub mod bands;
mod changes;
mod comparability;
mod existing_data;
pub mod export;
mod fact_names;
pub mod fingerprint;
pub mod gate;
pub mod group;
mod group_description;
pub mod group_statistics;
mod host_settings;
pub mod interim_looks;
mod latency_kinds;
mod layers;
pub mod level;
pub mod load_curve;
mod metrics;
mod obstacles;
pub mod procedure;
pub mod procedure_run;
mod program_settings;
mod rate_limits;
mod results;
pub mod rule;
mod scope;
mod settings;
pub mod snia;
#[cfg(test)]
mod tests;
pub mod thresholds;
pub mod trend;
mod undecided;
mod value_text;

use group::Group;
use leadline_protocol::compare::{Assessment, ComparedGroup};
use level::Level;
use scope::Scope;
use thresholds::Thresholds;

/// Smallest change that matters, in percent, unless the user sets a different threshold.
pub const DEFAULT_THRESHOLD_PERCENT: f64 = 2.0;

/// Maximum number of runs per group. Computing the exact distributions of larger groups takes too
/// long.
pub const MAX_RUNS: usize = 50;

/// Compares every group with the group at index `baseline`. `threshold_percent`: smallest change
/// that matters.
///
/// # Panics
/// If there is no group at index `baseline`.
pub fn compare(groups: &[Group], baseline: usize, threshold_percent: f64) -> Assessment {
    compare_at(groups, baseline, threshold_percent, &Level::default())
}

/// Like [`compare`], with the given confidence level and thresholds per metric.
///
/// # Panics
/// If there is no group at index `baseline`.
pub fn compare_at(
    groups: &[Group],
    baseline: usize,
    thresholds: impl Into<Thresholds>,
    level: &Level,
) -> Assessment {
    let thresholds = thresholds.into();
    let obstacles = obstacles::obstacles(groups, baseline);
    let scope = Scope::new(groups, &obstacles, baseline);
    let settings = settings::compare_settings(&scope);
    let host = host_settings::compare_hosts(&scope);
    let results = results::compare_results(&scope);
    let mut comparability =
        comparability::assess(&scope, &settings.different, &host.different, &results);
    comparability.reasons.extend(host.unknown_facts());
    comparability.reasons.extend(level.note());
    let metrics = metrics::compare_metrics(groups, baseline, &thresholds, level, &obstacles);
    let caution = rate_limits::caution(&scope.compared_groups()).unwrap_or_default();
    let groups: Vec<ComparedGroup> = groups
        .iter()
        .zip(obstacles)
        .map(|(group, obstacle)| group_description::describe(group, obstacle))
        .collect();
    Assessment {
        answers: answer::answers(&groups, baseline, &metrics, level.confidence, caution),
        groups,
        baseline: baseline as u64,
        threshold_percent: thresholds.default_percent,
        confidence_percent: level.confidence * 100.0,
        comparability,
        metrics,
        setting_differences: settings.different,
        equal_settings: settings.equal,
        host_differences: [host.different, host.unknown].concat(),
        equal_host_facts: host.equal,
        result_differences: results,
    }
}
