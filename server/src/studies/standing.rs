//! Where a study stands, told from its runs. Pure.

use crate::store::studies::StoredStudy;
use leadline_protocol::run::RunSummary;
use leadline_protocol::status::RunStatus;
use leadline_protocol::study::record::{Study, StudyStatus, StudyStep, StudySummary};
use leadline_protocol::verdict::Verdicts;
use std::collections::BTreeMap;

/// What lists show of a study.
pub fn summary(study: &StoredStudy) -> StudySummary {
    let statuses: Vec<RunStatus> = study.runs.iter().map(|run| run.status).collect();
    let status = status(&statuses);
    let decisive = study
        .runs
        .iter()
        .find(|run| run.status.is_final() && run.status != RunStatus::Done);
    StudySummary {
        number: study.number,
        name: study.words.name.clone(),
        status,
        created_at_ms: study.created_at_ms,
        started_at_ms: study.runs.iter().filter_map(|run| run.started_at_ms).min(),
        finished_at_ms: study
            .runs
            .iter()
            .filter_map(|run| run.finished_at_ms)
            .max()
            .filter(|_| status.is_final()),
        steps_total: study.steps.len() as u32,
        steps_ended: statuses.iter().filter(|status| status.is_final()).count() as u32,
        runs: study.runs.iter().map(|run| run.number).collect(),
        reason: decisive
            .and_then(|run| Some(format!("Step {}: {}", run.step?, run.reason.as_ref()?))),
    }
}

/// The first step that did not end well decides how the whole did.
fn status(runs: &[RunStatus]) -> StudyStatus {
    if runs.iter().all(|status| *status == RunStatus::Queued) {
        return StudyStatus::Queued;
    }
    if runs.iter().any(|status| !status.is_final()) {
        return StudyStatus::Running;
    }
    match runs.iter().find(|status| **status != RunStatus::Done) {
        Some(RunStatus::Failed) => StudyStatus::Failed,
        Some(RunStatus::Interrupted) => StudyStatus::Interrupted,
        Some(_) => StudyStatus::Cancelled,
        None => StudyStatus::Done,
    }
}

/// The whole study. `verdicts`: those that its runs have, by run.
pub fn study(stored: StoredStudy, verdicts: &BTreeMap<u64, Verdicts>) -> Study {
    let summary = summary(&stored);
    let first_iops = stored
        .runs
        .iter()
        .find(|run| run.status == RunStatus::Done)
        .and_then(|run| run.iops);
    let run_of = |step: u32| {
        stored
            .runs
            .iter()
            .find(|run| run.step == Some(step))
            .cloned()
    };
    let steps = (1..).zip(stored.steps).map(|(step, words)| {
        let run = run_of(step);
        StudyStep {
            step,
            name: words.name,
            note: words.note,
            sentence: run
                .as_ref()
                .and_then(|run| sentence(verdicts.get(&run.number)?)),
            iops_change_percent: run
                .as_ref()
                .and_then(|run| change_percent(run, first_iops?)),
            run,
        }
    });
    Study {
        steps: steps.collect(),
        about: stored.words.about,
        missed_by_author: stored.words.missed_by_author,
        published: stored.words.published,
        scaled: stored.scaled,
        continue_on_failure: stored.continue_on_failure,
        leftover_files: stored
            .own_files
            .into_iter()
            .filter(|file| file.reason.is_some())
            .collect(),
        summary,
    }
}

/// What the verdicts of all directions say.
fn sentence(verdicts: &Verdicts) -> Option<String> {
    let sentences: Vec<&str> = [&verdicts.read, &verdicts.write]
        .into_iter()
        .flatten()
        .map(|verdict| verdict.sentence.as_str())
        .collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn change_percent(run: &RunSummary, first_iops: f64) -> Option<f64> {
    run.iops
        .filter(|_| first_iops > 0.0)
        .map(|iops| (iops / first_iops - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use RunStatus::{Cancelled, Done, Failed, Interrupted, Measuring, Queued};

    use super::*;

    #[test]
    fn where_a_study_stands() {
        for (runs, expect) in [
            (&[Queued, Queued][..], StudyStatus::Queued),
            (&[Measuring, Queued], StudyStatus::Running),
            (&[Done, Queued], StudyStatus::Running),
            (&[Failed, Queued], StudyStatus::Running),
            (&[Done, Done], StudyStatus::Done),
            (&[Done, Failed, Cancelled], StudyStatus::Failed),
            (&[Failed, Done], StudyStatus::Failed),
            (&[Cancelled, Cancelled], StudyStatus::Cancelled),
            (&[Interrupted, Done], StudyStatus::Interrupted),
            (&[Done, Cancelled, Interrupted], StudyStatus::Cancelled),
        ] {
            assert_eq!(status(runs), expect, "{runs:?}");
        }
    }
}
