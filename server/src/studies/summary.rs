//! Derives the status and the summary of a study from its runs. Pure.

use crate::{
    store::studies::StoredStudy,
    studies::{continuation::needs_next_run, interim_looks::due_look},
};
use leadline_protocol::{
    compare::GroupStatistics,
    run::RunSummary,
    status::RunStatus,
    study::{
        definition::RepeatOrder,
        detail::{StepStatistics, Study, StudyStep},
        summary::{StudyStatus, StudySummary},
        until_decided::UntilDecided,
    },
    verdict::Verdicts,
};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn summary(study: &StoredStudy) -> StudySummary {
    let runs = &study.runs;
    let retried = retried_runs(study);
    let is_last = |run: &&RunSummary| !was_retried(&retried, run);
    let last: Vec<&RunSummary> = runs.iter().filter(is_last).collect();
    let required: Vec<&RunSummary> = last
        .iter()
        .copied()
        .filter(|run| !is_not_needed(study, run))
        .collect();
    // A retry, a look or another run may follow.
    let is_open = study.awaits_retry || due_look(study).is_some() || needs_next_run(study);
    let status = if is_open {
        StudyStatus::Running
    } else {
        status(&Vec::from_iter(required.iter().map(|run| run.status)))
    };
    let unsuccessful = required
        .iter()
        .find(|run| run.status.is_final() && run.status != RunStatus::Done);
    let finished_at_ms = runs.iter().filter_map(|run| run.finished_at_ms).max();
    StudySummary {
        number: study.number,
        name: study.description.name.clone(),
        status,
        created_at_ms: study.created_at_ms,
        started_at_ms: runs.iter().filter_map(|run| run.started_at_ms).min(),
        finished_at_ms: if status.is_final() {
            finished_at_ms
        } else {
            None
        },
        steps_total: study.steps.len() as u32,
        steps_ended: required.iter().filter(|run| run.status.is_final()).count() as u32,
        runs: runs.iter().map(|run| run.number).collect(),
        reason: unsuccessful
            .and_then(|run| Some(format!("Step {}: {}", run.step?, run.reason.as_ref()?))),
    }
}

/// Shown in place of a verdict.
const DAMAGED: &str = "The stored data of this run does not match its checksum, so it is excluded from the study's results.";

fn retried_runs(study: &StoredStudy) -> BTreeSet<u64> {
    study.runs.iter().filter_map(|run| run.retry_of).collect()
}

/// Whether the run failed and was retried.
fn was_retried(retried: &BTreeSet<u64>, run: &RunSummary) -> bool {
    run.status != RunStatus::Done && retried.contains(&run.number)
}

/// Whether the study was decided, or its procedure ended, without this run: the run did not start,
/// or it was interrupted and the study continued. Runs with a confirmation are interrupted if the
/// server stopped before it could cancel the remaining runs.
fn is_not_needed(study: &StoredStudy, run: &RunSummary) -> bool {
    let is_decided = UntilDecided::decision(&study.looks).is_some();
    let has_ended = is_decided || study.ended.is_some();
    match run.status {
        RunStatus::Cancelled => has_ended && run.started_at_ms.is_none(),
        RunStatus::Interrupted if run.started_at_ms.is_none() => has_ended,
        RunStatus::Interrupted => is_decided || has_ended && has_continued_after(study, run),
        _ => false,
    }
}

fn has_continued_after(study: &StoredStudy, run: &RunSummary) -> bool {
    let mut done = study
        .runs
        .iter()
        .filter(|other| other.status == RunStatus::Done);
    done.any(|other| other.queue_order() > run.queue_order())
}

/// The first step that is not `done` determines the final status.
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

/// `verdicts` are keyed by run number.
pub(crate) fn study(stored: StoredStudy, verdicts: &BTreeMap<u64, Verdicts>) -> Study {
    let summary = summary(&stored);
    let retried = retried_runs(&stored);
    let (failed, runs): (Vec<RunSummary>, Vec<RunSummary>) = stored
        .runs
        .iter()
        .cloned()
        .partition(|run| was_retried(&retried, run));
    let by_position = |mut runs: Vec<RunSummary>| -> BTreeMap<_, _> {
        // A damaged run may claim the position of an intact one. Intact runs come last, so they
        // win.
        runs.sort_by_key(|run| !run.damaged);
        let runs = runs.into_iter();
        runs.map(|run| ((run.step, run.repeat), run)).collect()
    };
    let (mut failed, mut runs) = (by_position(failed), by_position(runs));
    let repeats = stored.steps.iter().filter_map(|step| step.repeat).max();
    let order = RepeatOrder::of_repeats(stored.steps.iter().filter_map(|step| step.repeat));
    let steps = (1..).zip(stored.steps).map(|(position, step)| {
        let number = step.step.unwrap_or(position);
        let repeat = step.repeat.unwrap_or(1);
        let run = runs.remove(&(Some(number), Some(repeat)));
        StudyStep {
            step: number,
            repeat,
            sweep: step.sweep,
            name: step.name,
            note: step.note,
            sentence: run.as_ref().and_then(|run| {
                if run.damaged {
                    return Some(DAMAGED.to_owned());
                }
                sentence(verdicts.get(&run.number)?)
            }),
            iops_change_percent: None,
            failed_run: failed.remove(&(Some(number), Some(repeat))),
            run,
        }
    });
    let mut leftover_files = stored.owned_files;
    leftover_files.retain(|file| file.reason.is_some());
    let mut steps: Vec<StudyStep> = steps.collect();
    let results = statistics(&steps);
    // Steps run in random order, so the first run may belong to any of them.
    let reference = results.first().and_then(|result| result.iops.median);
    for step in &mut steps {
        let run = step.run.as_ref();
        step.iops_change_percent = run.and_then(|run| change_percent(run, reference?));
    }
    Study {
        results,
        steps,
        about: stored.description.about,
        missed_by_author: stored.description.missed_by_author,
        published: stored.description.published,
        scaled: stored.scaled,
        continue_on_failure: stored.continue_on_failure,
        repeats: repeats.unwrap_or(1),
        order,
        order_seed: stored.order_seed,
        idle_wait_seconds: stored.idle_wait_seconds,
        until_decided: stored.until_decided,
        procedure: stored.procedure,
        ended: stored.ended,
        looks: stored.looks,
        leftover_files,
        summary,
    }
}

fn statistics(steps: &[StudyStep]) -> Vec<StepStatistics> {
    let mut by_step: BTreeMap<u32, Vec<&StudyStep>> = BTreeMap::new();
    for step in steps {
        let run = step.run.as_ref();
        if run.is_some_and(|run| run.status == RunStatus::Done) {
            by_step.entry(step.step).or_default().push(step);
        }
    }
    let results = by_step.into_iter().map(|(number, steps)| StepStatistics {
        step: number,
        name: steps[0].name.clone(),
        sweep: steps[0].sweep.clone(),
        iops: run_statistics(&steps, |run| run.iops),
        bytes_per_second: run_statistics(&steps, |run| run.bytes_per_second),
        lat_p99_ns: run_statistics(&steps, |run| Some(run.lat_p99_ns? as f64)),
    });
    results.collect()
}

fn run_statistics(steps: &[&StudyStep], value: fn(&RunSummary) -> Option<f64>) -> GroupStatistics {
    let runs = steps.iter().filter_map(|step| step.run.as_ref());
    let labeled: Vec<(String, f64)> = runs
        .filter_map(|run| Some((format!("#{}", run.number), value(run)?)))
        .collect();
    let values: Vec<(&str, f64)> = labeled
        .iter()
        .map(|(label, value)| (label.as_str(), *value))
        .collect();
    leadline_compare::group_statistics::statistics(&values)
}

/// The summaries of the verdicts for all directions.
fn sentence(verdicts: &Verdicts) -> Option<String> {
    let verdicts = [&verdicts.read, &verdicts.write].into_iter().flatten();
    let sentences: Vec<&str> = verdicts.map(|verdict| verdict.sentence.as_str()).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn change_percent(run: &RunSummary, reference: f64) -> Option<f64> {
    let iops = run.iops?;
    (reference > 0.0).then(|| (iops / reference - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use RunStatus::{Cancelled, Done, Failed, Interrupted, Measuring, Queued};

    use super::*;

    #[test]
    fn study_status_is_derived_from_runs() {
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
