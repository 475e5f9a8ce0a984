//! Decides whether the numbers of different groups may be compared.

use crate::{
    fingerprint::job_facts,
    group::{ComparedRun, Group, all_runs},
    layers, settings,
    value_text::with_unit,
};
use leadline_protocol::{
    compare::{Comparability, ComparabilityLevel, Difference},
    report::Report,
    status::RunStatus,
};

/// Maximum number of differences listed in the sentence.
const MAX_LISTED: usize = 4;

pub(crate) fn assess(
    groups: &[Group],
    settings: &[Difference],
    host: &[Difference],
    results: &[Difference],
) -> Comparability {
    let left_out: Vec<String> = all_runs(groups).filter_map(incomplete_result).collect();
    let obstacles = obstacles(groups);
    let settings: Vec<&Difference> = settings
        .iter()
        .filter(|difference| !settings::is_ignored(&difference.name))
        .collect();
    let host: Vec<&Difference> = host.iter().collect();
    let findings: Vec<&Difference> = results
        .iter()
        .filter(|difference| difference.name.starts_with("finding "))
        .collect();
    let layers = layers::difference(groups);
    let is_equal = settings.is_empty() && host.is_empty() && findings.is_empty();
    let level = if !obstacles.is_empty() {
        ComparabilityLevel::NotComparable
    } else if is_equal && layers.is_none() {
        ComparabilityLevel::Comparable
    } else {
        ComparabilityLevel::WithDifferences
    };
    let sentence = match obstacles.first() {
        Some(obstacle) => format!("Not comparable: {obstacle}"),
        // The serving layer affects results more than any setting does.
        None => layers
            .clone()
            .unwrap_or_else(|| sentence(&settings, &host, &findings)),
    };
    Comparability {
        level,
        sentence,
        reasons: obstacles
            .into_iter()
            .skip(1)
            .chain(left_out)
            .chain(not_interleaved(groups))
            .collect(),
        rerun: layers.and_then(|_| layers::rerun(groups)),
    }
}

/// Reasons why the groups are not comparable.
fn obstacles(groups: &[Group]) -> Vec<String> {
    let mut obstacles = Vec::new();
    for group in groups {
        if group.complete().next().is_none() {
            obstacles.push(match &group.runs[..] {
                [] => format!("{} has no runs.", group.label),
                [_] => format!("{} has no complete result.", group.label),
                _ => format!("{} has no run with a complete result.", group.label),
            });
        }
        if let Some(setting) = mixed_setting(group) {
            obstacles.push(format!(
                "{} mixes different tests: the runs differ in {setting}.",
                group.label
            ));
        }
    }
    if obstacles.is_empty() && !share_a_direction(groups) {
        obstacles.push("The groups have no I/O direction in common.".into());
    }
    obstacles
}

/// Returns a setting that differs between the complete runs of a group, with two of its values.
fn mixed_setting(group: &Group) -> Option<String> {
    let mut runs = group.complete();
    let first = job_facts(runs.next()?);
    runs.find_map(|run| {
        let other = job_facts(run);
        let names = first.keys().chain(other.keys());
        let mut different = names.filter(|name| first.get(*name) != other.get(*name));
        let name = different.next()?;
        let text = |value: Option<&Option<String>>| match value {
            Some(Some(value)) => with_unit(name, value),
            _ => "none".into(),
        };
        Some(format!(
            "{name} ({} / {})",
            text(first.get(name)),
            text(other.get(name))
        ))
    })
}

/// A change of the host between two series of runs looks like a difference between the groups:
/// under drift, 74 % to 100 % of the verdicts are false (`docs/comparison.md`).
fn not_interleaved(groups: &[Group]) -> Option<String> {
    let repeated = groups.iter().any(|group| group.runs.len() > 1);
    let mut blocks = all_runs(groups).map(|run| run.block.map(|block| block.study));
    let first = blocks.next()?;
    let is_one_study = first.is_some() && blocks.all(|study| study == first);
    (repeated && !is_one_study).then(|| {
        "The runs were not interleaved in one study, so a change of the host in between would look like a difference between the groups."
            .into()
    })
}

fn share_a_direction(groups: &[Group]) -> bool {
    let uses = |group: &Group, ios: fn(&Report) -> u64| {
        let mut reports = group.complete().filter_map(|run| run.report);
        reports.any(|report| ios(report) > 0)
    };
    let directions: [fn(&Report) -> u64; 3] = [
        |report| report.read.ios,
        |report| report.write.ios,
        |report| report.trim.ios,
    ];
    directions
        .into_iter()
        .any(|ios| groups.iter().all(|group| uses(group, ios)))
}

fn sentence(settings: &[&Difference], host: &[&Difference], findings: &[&Difference]) -> String {
    if !settings.is_empty() {
        let first_write = settings
            .iter()
            .any(|difference| difference.name == settings::HELD_DATA);
        let note = if first_write {
            " The first write to a file also allocates its blocks."
        } else {
            ""
        };
        return format!("Different settings: {}.{note}", list(settings));
    }
    if !host.is_empty() {
        return format!(
            "Same test, but the host or its storage differs: {}.",
            list(host)
        );
    }
    if !findings.is_empty() {
        let codes: Vec<&str> = findings
            .iter()
            .filter_map(|difference| difference.name.strip_prefix("finding "))
            .collect();
        return format!(
            "Same test on the same host, but only some runs have the finding {}.",
            codes.join(", ")
        );
    }
    "Same test on the same host.".into()
}

/// Lists the first differences with their values, harmful ones first.
fn list(differences: &[&Difference]) -> String {
    let (harmful, others): (Vec<&Difference>, Vec<&Difference>) = differences
        .iter()
        .copied()
        .partition(|difference| difference.is_harmful);
    let listed = harmful.into_iter().chain(others).take(MAX_LISTED);
    let mut listed: Vec<String> = listed
        .map(|difference| format!("{} ({})", difference.name, values(difference)))
        .collect();
    if differences.len() > MAX_LISTED {
        listed.push(format!("{} more", differences.len() - MAX_LISTED));
    }
    listed.join(", ")
}

/// The distinct values, in order.
fn values(difference: &Difference) -> String {
    let mut different: Vec<String> = Vec::new();
    for value in &difference.values {
        let text = match value {
            Some(value) => with_unit(&difference.name, value),
            None => "none".into(),
        };
        if !different.contains(&text) {
            different.push(text);
        }
    }
    different.join(" / ")
}

/// Why a run is excluded from the statistics.
fn incomplete_result(run: &ComparedRun) -> Option<String> {
    let result = match run.report {
        Some(_) if run.status == RunStatus::Done => return None,
        Some(report) if run.status == RunStatus::Failed && report.stalled_job().is_some() => {
            "had no completions for a long time"
        }
        Some(report) if report.damaged_job().is_some() => "has bad blocks",
        Some(_) => "has a partial report",
        None => "has no report",
    };
    Some(format!(
        "{} {result} (status: {}), so it is excluded.",
        run.label,
        run.status.as_str()
    ))
}
