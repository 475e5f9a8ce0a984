//! Decides whether the numbers of different groups may be compared.

use crate::{
    fact_names::{fact_name, finding_name},
    group::{ComparedRun, Group, all_in_one_study, all_runs, quoted},
    layers, rate_limits,
    scope::Scope,
    settings,
    value_text::with_unit,
};
use leadline_protocol::{
    compare::{Comparability, ComparabilityLevel, Difference},
    status::RunStatus,
};

/// Maximum number of differences listed in the sentence.
const MAX_LISTED: usize = 4;

pub(crate) fn assess(
    scope: &Scope,
    settings: &[Difference],
    host: &[Difference],
    results: &[Difference],
) -> Comparability {
    let settings: Vec<&Difference> = settings
        .iter()
        .filter(|difference| !settings::is_ignored(&difference.name))
        .collect();
    let host: Vec<&Difference> = host.iter().collect();
    let findings: Vec<&Difference> = results
        .iter()
        .filter(|difference| difference.name.starts_with("finding "))
        .collect();
    let groups = scope.compared_groups();
    let layers = layers::difference(&groups);
    let mut obstacles = distinct_obstacles(scope);
    let mut other_difference = None;
    let is_equal = settings.is_empty() && host.is_empty() && findings.is_empty();
    let (level, sentence) = if !scope.has_comparable_group() && !obstacles.is_empty() {
        let sentence = format!("Not comparable: {}", obstacles.remove(0));
        (ComparabilityLevel::NotComparable, sentence)
    } else {
        let level = if is_equal && layers.is_none() && obstacles.is_empty() {
            ComparabilityLevel::Comparable
        } else {
            ComparabilityLevel::WithDifferences
        };
        // Layer differences come first, because the serving layer affects results more than any
        // setting.
        let sentence = layers.clone();
        let difference = || comparability_sentence(scope, &settings, &host, &findings);
        if sentence.is_some() && !settings.is_empty() {
            other_difference = Some(difference());
        }
        (level, sentence.unwrap_or_else(difference))
    };
    Comparability {
        level,
        sentence,
        reasons: obstacles
            .into_iter()
            .map(|obstacle| format!("Not comparable: {obstacle}"))
            .chain(other_difference)
            .chain(rate_limits::reason(&groups))
            .chain(exclusions(scope.groups))
            .chain(after_look(scope.groups))
            .chain(not_interleaved(&groups))
            .collect(),
        rerun: layers.and_then(|_| layers::rerun(&groups)),
    }
}

fn distinct_obstacles(scope: &Scope) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for obstacle in scope.obstacles.iter().flatten() {
        if !distinct.contains(obstacle) {
            distinct.push(obstacle.clone());
        }
    }
    distinct
}

/// Warns about groups that ran one after the other: a change on the host between them looks like a
/// difference between the groups. Under drift, 74 % to 100 % of the verdicts are false
/// (`docs/comparison.md`).
fn not_interleaved(groups: &[Group]) -> Option<String> {
    let is_repeated = groups.iter().any(|group| group.runs.len() > 1);
    let has_runs = groups.iter().any(|group| !group.runs.is_empty());
    (is_repeated && has_runs && !all_in_one_study(groups)).then(|| {
        "The runs were not interleaved in one study, so a change on the host between them would look like a difference between the groups."
            .into()
    })
}

/// Runs after the last look are excluded: including them would amount to an additional, unplanned
/// look.
fn after_look(groups: &[Group]) -> Option<String> {
    let newer = all_runs(groups).filter(|run| run.is_complete() && run.is_after_look);
    match newer.count() {
        0 => None,
        1 => Some("1 run is newer than the last look at its study, so it is excluded.".into()),
        count => Some(format!(
            "{count} runs are newer than the last look at their study, so they are excluded."
        )),
    }
}

/// Why runs are excluded from the statistics. Runs with the same reason are listed together.
fn exclusions(groups: &[Group]) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for group in groups {
        let first_writes = group.first_writes();
        for (index, run) in group.runs.iter().enumerate() {
            let reason = if first_writes.contains(&index) {
                Some("is the first write to its file, which also allocates the blocks".into())
            } else {
                incomplete_result(run)
            };
            let Some(reason) = reason else { continue };
            match reasons.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, labels)) => labels.push(&run.label),
                None => reasons.push((reason, vec![&run.label])),
            }
        }
    }
    let sentences = reasons.iter().map(|(reason, labels)| match &labels[..] {
        [label] => format!("{} {reason}, so it is excluded.", quoted(label)),
        _ => format!(
            "{} are excluded, because each {reason}.",
            layers::listed(labels)
        ),
    });
    sentences.collect()
}

fn comparability_sentence(
    scope: &Scope,
    settings: &[&Difference],
    host: &[&Difference],
    findings: &[&Difference],
) -> String {
    if !settings.is_empty() {
        let is_first_write = settings
            .iter()
            .any(|difference| difference.name == settings::HELD_DATA);
        let note = if is_first_write {
            " The first write to a file also allocates its blocks."
        } else {
            ""
        };
        let has_different_programs = settings
            .iter()
            .any(|difference| difference.name == settings::PROGRAM);
        let note = match has_different_programs {
            true => {
                " Only the I/O type, block size, queue depth, numjobs, direct and ioengine of the first job were compared, because fio and Leadline record other settings differently."
            }
            false => note,
        };
        return format!("Different settings: {}.{note}", list(scope, settings));
    }
    if !host.is_empty() {
        return format!(
            "Same test, but the host or its storage differs: {}.",
            list(scope, host)
        );
    }
    if !findings.is_empty() {
        let codes = findings
            .iter()
            .filter_map(|difference| difference.name.strip_prefix("finding "));
        let names: Vec<String> = codes.map(finding_name).collect();
        let noun = if names.len() == 1 {
            "finding"
        } else {
            "findings"
        };
        return format!(
            "{}, but only some runs have the {noun}: {}.",
            same_test(scope),
            names.join(", ")
        );
    }
    format!("{}.", same_test(scope))
}

/// fio results do not contain host facts.
fn same_test(scope: &Scope) -> &'static str {
    if scope.compared_runs().all(|run| run.host.is_some()) {
        "Same test on the same host"
    } else {
        "Same test (the host is not recorded in all results)"
    }
}

/// Lists the first differences with their values, harmful differences first.
fn list(scope: &Scope, differences: &[&Difference]) -> String {
    let (harmful, others): (Vec<&Difference>, Vec<&Difference>) = differences
        .iter()
        .copied()
        .partition(|difference| difference.is_harmful);
    let listed = harmful.into_iter().chain(others).take(MAX_LISTED);
    let mut listed: Vec<String> = listed
        .map(|difference| {
            let name = fact_name(&difference.name);
            format!("{name} ({})", values(scope, difference))
        })
        .collect();
    if differences.len() > MAX_LISTED {
        listed.push(format!("{} more", differences.len() - MAX_LISTED));
    }
    listed.join(", ")
}

/// The distinct values of the compared runs, in order of first occurrence.
fn values(scope: &Scope, difference: &Difference) -> String {
    let mut different: Vec<String> = Vec::new();
    for value in scope.compared_items(&difference.values) {
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

/// Why a run is excluded from the statistics, as a verb phrase.
fn incomplete_result(run: &ComparedRun) -> Option<String> {
    let result = match run.report {
        Some(_) if run.status == RunStatus::Done => return None,
        Some(report) if run.status == RunStatus::Failed && report.stalled_job().is_some() => {
            "had no completions for a long time"
        }
        Some(report) if report.damaged_job().is_some() => "has bad blocks",
        Some(report) if report.violated_limit().is_some() => "violated a limit",
        Some(_) => "has a partial report",
        None => "has no report",
    };
    Some(format!("{result} (status: {})", run.status.as_str()))
}
