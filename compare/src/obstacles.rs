//! Reasons why a group is not comparable with the baseline.

use crate::{
    fact_names::fact_name,
    fingerprint::job_facts,
    group::{ComparedRun, Group, quoted},
    host_settings::identifying_facts,
    settings::Facts,
    value_text::with_unit,
};
use leadline_protocol::report::Report;

/// Returns one obstacle per group; `None` for the baseline and for groups that are comparable with
/// it.
pub(crate) fn obstacles(groups: &[Group], baseline: usize) -> Vec<Option<String>> {
    let base = &groups[baseline];
    let base_obstacle = group_obstacle(base);
    let groups = groups.iter().enumerate();
    groups
        .map(|(index, group)| {
            if index == baseline {
                return None;
            }
            base_obstacle
                .clone()
                .or_else(|| group_obstacle(group))
                .or_else(|| overlap(base, group))
                .or_else(|| no_common_direction(base, group))
        })
        .collect()
}

fn group_obstacle(group: &Group) -> Option<String> {
    let label = quoted(&group.label);
    if group.included().next().is_none() {
        return Some(match &group.runs[..] {
            [] => format!("{label} has no runs."),
            [_] => format!("{label} has no complete result."),
            _ => format!("{label} has no run with a complete result."),
        });
    }
    if let Some(setting) = mixed_test(group) {
        return Some(format!(
            "{label} mixes different tests: the runs differ in {setting}."
        ));
    }
    mixed_host(group)
        .map(|fact| format!("{label} mixes different hosts or devices: the runs differ in {fact}."))
}

fn mixed_test(group: &Group) -> Option<String> {
    mixed(group, job_facts, |first, other| first != other)
}

/// A fact that a run did not record is unknown, which does not count as a difference.
fn mixed_host(group: &Group) -> Option<String> {
    mixed(group, identifying_facts, |first, other| {
        first
            .zip(other)
            .is_some_and(|(first, other)| first != other)
    })
}

type Fact<'a> = Option<&'a Option<String>>;

/// Returns a fact that differs between the runs of a group, with two of its values.
fn mixed(
    group: &Group,
    facts: fn(&ComparedRun) -> Facts,
    is_different: fn(Fact, Fact) -> bool,
) -> Option<String> {
    let mut runs = group.included();
    let first = facts(runs.next()?);
    runs.find_map(|run| {
        let other = facts(run);
        let mut names = first.keys().chain(other.keys());
        let name = names.find(|name| is_different(first.get(*name), other.get(*name)))?;
        let text = |value: Option<&Option<String>>| match value {
            Some(Some(value)) => with_unit(name, value),
            _ => "none".into(),
        };
        Some(format!(
            "{} ({} / {})",
            fact_name(name),
            text(first.get(name)),
            text(other.get(name))
        ))
    })
}

/// A run compared with itself is not evidence of equivalence.
fn overlap(base: &Group, group: &Group) -> Option<String> {
    let in_base = |run: &&ComparedRun| base.included().any(|other| other.label == run.label);
    let mut shared = group.included().filter(in_base);
    let first = shared.next()?;
    let others = match shared.count() {
        0 => " is".into(),
        1 => " and 1 other run are".into(),
        count => format!(" and {count} other runs are"),
    };
    Some(format!(
        "{}{others} in both “{}” and “{}”.",
        first.label, base.label, group.label
    ))
}

fn no_common_direction(base: &Group, group: &Group) -> Option<String> {
    let uses = |group: &Group, ios: fn(&Report) -> u64| {
        let mut reports = group.included().filter_map(|run| run.report);
        reports.any(|report| ios(report) > 0)
    };
    let directions: [fn(&Report) -> u64; 3] = [
        |report| report.read.ios,
        |report| report.write.ios,
        |report| report.trim.ios,
    ];
    let share_one = directions
        .into_iter()
        .any(|ios| uses(base, ios) && uses(group, ios));
    (!share_one).then(|| {
        format!(
            "{} and {} have no I/O direction in common.",
            quoted(&base.label),
            quoted(&group.label)
        )
    })
}
