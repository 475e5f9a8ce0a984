//! Decides whether runs are the same test.

use crate::query::compare::{layers, settings, value_text::with_unit};
use leadline_protocol::{
    compare::{Comparable, Difference},
    run::Run,
    status::RunStatus,
};

/// Settings that may differ between repeats of a test.
const IGNORED_SETTINGS: &[&str] = &[
    "name",
    "targets.alignment",
    "targets.existed",
    "targets.layout_bytes",
    "targets.layout_offset",
    "sample_ms",
];

/// Maximum number of differences listed in the summary.
const MAX_LISTED: usize = 4;

pub(crate) fn comparable(runs: &[Run], settings: &[Difference], host: &[Difference]) -> Comparable {
    let settings: Vec<&Difference> = settings
        .iter()
        .filter(|difference| !is_ignored(&difference.name))
        .collect();
    let host: Vec<&Difference> = host.iter().collect();
    let reasons: Vec<String> = runs.iter().filter_map(incomplete_result).collect();
    let layers = layers::difference(runs);
    let same_test =
        settings.is_empty() && host.is_empty() && reasons.is_empty() && layers.is_none();
    Comparable {
        same_test,
        rerun: layers.as_ref().and_then(|_| layers::rerun(runs)),
        // The serving layer affects results more than any setting.
        sentence: layers.unwrap_or_else(|| sentence(same_test, &settings, &host)),
        reasons,
    }
}

fn is_ignored(name: &str) -> bool {
    // `jobs[1].name` is the `name` of the second job.
    let name = name.split_once("].").map_or(name, |(_, name)| name);
    IGNORED_SETTINGS.contains(&name)
}

fn sentence(same_test: bool, settings: &[&Difference], host: &[&Difference]) -> String {
    if same_test {
        return "Same test on the same host.".into();
    }
    if !settings.is_empty() {
        let first_write = settings
            .iter()
            .any(|difference| difference.name == settings::HELD_DATA);
        let note = if first_write {
            " The first write to a file also allocates its blocks."
        } else {
            ""
        };
        return format!("Not the same test: different {}.{note}", list(settings));
    }
    if !host.is_empty() {
        return format!("Same test, but the host changed: different {}.", list(host));
    }
    "Not all runs have a complete result.".into()
}

/// Lists the first differences with their values.
fn list(differences: &[&Difference]) -> String {
    let listed = differences.iter().take(MAX_LISTED);
    let mut listed: Vec<String> = listed
        .map(|difference| format!("{} ({})", difference.name, values(difference)))
        .collect();
    if differences.len() > MAX_LISTED {
        listed.push(format!("{} more", differences.len() - MAX_LISTED));
    }
    listed.join(", ")
}

fn values(difference: &Difference) -> String {
    let values = difference.values.iter().map(|value| match value {
        Some(value) => with_unit(&difference.name, value),
        None => "none".into(),
    });
    values.collect::<Vec<_>>().join(" / ")
}

fn incomplete_result(run: &Run) -> Option<String> {
    let number = run.summary.number;
    let status = run.summary.status;
    let result = match &run.report {
        Some(_) if status == RunStatus::Done => return None,
        Some(report) if status == RunStatus::Failed && report.stalled_job().is_some() => {
            "had no completions for a long time"
        }
        Some(report) if report.damaged_job().is_some() => "has bad blocks",
        Some(_) => "has a partial report",
        None => "has no report",
    };
    Some(format!("#{number} {result} (status: {}).", status.as_str()))
}
