//! Comparison of stored runs; see the `leadline_compare` crate. Pure.

use crate::store::studies::StepDescription;
use leadline_compare::group::{self, Block, Group, distinct_labels};
use leadline_protocol::{
    compare::{ComparedRun, Comparison},
    report::Report,
    run::Run,
    study::definition::RepeatOrder,
};
use std::collections::BTreeMap;

/// Runs that form one group of a comparison.
pub(crate) struct StoredGroup {
    /// Label, unless the group is a step of a study.
    pub selection: String,
    pub runs: Vec<Run>,
}

/// The runs of each study, in order.
pub(crate) type Studies = BTreeMap<u64, Vec<StepDescription>>;

/// `baseline` is the index of the baseline group. `studies` are those of the runs.
pub(crate) fn compare(
    groups: &[StoredGroup],
    studies: &Studies,
    baseline: usize,
    threshold_percent: f64,
) -> Comparison {
    let labels: Vec<(String, String)> = groups
        .iter()
        .map(|group| (label(group, studies), group.selection.clone()))
        .collect();
    let labels = distinct_labels(&labels).into_iter();
    let inputs: Vec<Group> = groups
        .iter()
        .zip(labels)
        .map(|(group, label)| input(group, label, studies))
        .collect();
    let assessment = leadline_compare::compare(&inputs, baseline, threshold_percent);
    let runs = (0..).zip(groups).flat_map(|(index, group)| {
        let runs = group.runs.iter();
        runs.map(move |run| compared(run, index))
    });
    Comparison {
        runs: runs.collect(),
        assessment,
    }
}

fn input<'a>(group: &'a StoredGroup, label: String, studies: &Studies) -> Group<'a> {
    let run = |run| group::ComparedRun::new(run, block(run, studies));
    Group {
        label,
        runs: group.runs.iter().map(run).collect(),
    }
}

/// Repeats of sequential studies are far apart in time, so they are not pairs.
fn block(run: &Run, studies: &Studies) -> Option<Block> {
    let study = run.summary.study?;
    let repeats = studies.get(&study)?.iter().filter_map(|step| step.repeat);
    let is_interleaved = RepeatOrder::of_repeats(repeats) == RepeatOrder::Interleaved;
    let repeat = run.summary.repeat.filter(|_| is_interleaved)?;
    Some(Block {
        study: study.to_string(),
        repeat,
    })
}

/// Repeats of a step are labeled with its name; other groups, with their selection.
fn label(group: &StoredGroup, studies: &Studies) -> String {
    let step = |run: &Run| run.summary.study.zip(run.summary.step);
    let first = group.runs.first().filter(|_| group.runs.len() > 1);
    let first = first.and_then(step);
    let is_one_step = group.runs.iter().all(|run| step(run) == first);
    let name = first.filter(|_| is_one_step).and_then(|(study, number)| {
        let steps = (1..).zip(studies.get(&study)?);
        let mut named = steps.filter(|(position, step)| step.step.unwrap_or(*position) == number);
        named.next().map(|(_, step)| step.name.clone())
    });
    name.unwrap_or_else(|| group.selection.clone())
}

fn compared(run: &Run, group: u64) -> ComparedRun {
    let report = run.report.as_ref();
    ComparedRun {
        run: run.summary.clone(),
        group,
        duration_ms: report.map(|report| report.duration_ms),
        read: report.map(|report| report.read.clone()),
        write: report.map(|report| report.write.clone()),
        trim: report.map(|report| report.trim.clone()),
        device: report.and_then(|report| report.device.clone()),
        verdict: run.verdict.clone(),
        gauge: report.and_then(|report| report.gauge.clone()),
        cpu_ns_per_io: report.and_then(Report::cpu_ns_per_io),
        profiled: report.is_some_and(|report| report.profile.is_some()),
    }
}
