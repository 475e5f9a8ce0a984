//! Compares stored runs; see the `leadline_compare` crate. Pure.

use crate::store::studies::{StepDescription, StoredStudy};
use leadline_compare::{
    DEFAULT_THRESHOLD_PERCENT, compare_at,
    group::{self, Block, Group, distinct_labels},
    interim_looks,
    level::Level,
    thresholds::Thresholds,
};
use leadline_protocol::{
    compare::{ComparedRun, Comparison},
    report::Report,
    run::Run,
    study::{
        definition::RepeatOrder,
        until_decided::{Look, UntilDecided},
    },
};
use std::collections::BTreeMap;

/// The runs in one group of a comparison.
pub(crate) struct StoredGroup {
    /// Label, unless the group is a step in a study.
    pub selection: String,
    pub runs: Vec<Run>,
}

/// By study number.
pub(crate) type Studies = BTreeMap<u64, ComparedStudy>;

/// The properties of a study that are used to compare its runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComparedStudy {
    /// In run order.
    steps: Vec<StepDescription>,
    until_decided: Option<UntilDecided>,
    looks: Vec<Look>,
}

impl From<StoredStudy> for ComparedStudy {
    fn from(study: StoredStudy) -> Self {
        Self {
            steps: study.steps,
            until_decided: study.until_decided,
            looks: study.looks,
        }
    }
}

/// `baseline` is the index of the baseline group. `studies` contains the runs' studies. The
/// threshold is in percent. It defaults to the study's threshold, or to each metric's threshold
/// (`settings`).
pub(crate) fn compare(
    groups: &[StoredGroup],
    studies: &Studies,
    baseline: usize,
    threshold: Option<f64>,
    settings: &BTreeMap<String, f64>,
) -> Comparison {
    let labels: Vec<(String, String)> = groups
        .iter()
        .map(|group| (label(group, studies), group.selection.clone()))
        .collect();
    let labels = distinct_labels(&labels).into_iter();
    let mut inputs: Vec<Group> = groups
        .iter()
        .zip(labels)
        .map(|(group, label)| input(group, label, studies))
        .collect();
    let mut thresholds = Thresholds {
        default_percent: DEFAULT_THRESHOLD_PERCENT,
        by_metric: settings.clone(),
    };
    let level = match sequential_study(groups, studies) {
        Some((until, looks)) => {
            for metric in &until.metrics {
                let own = (metric.to_string(), until.threshold_percent);
                thresholds.by_metric.extend([own]);
            }
            thresholds.default_percent = until.threshold_percent;
            interim_looks::apply(&mut inputs, until, looks)
        }
        None => Level::default(),
    };
    let thresholds = threshold.map_or(thresholds, Thresholds::from);
    let assessment = compare_at(&inputs, baseline, thresholds, &level);
    let runs = (0..).zip(groups).flat_map(|(index, group)| {
        let runs = group.runs.iter();
        runs.map(move |run| to_compared_run(run, index))
    });
    Comparison {
        runs: runs.collect(),
        assessment,
    }
}

/// Returns the study that all runs belong to, if that study uses `until_decided`.
fn sequential_study<'a>(
    groups: &[StoredGroup],
    studies: &'a Studies,
) -> Option<(&'a UntilDecided, &'a [Look])> {
    let mut numbers = groups
        .iter()
        .flat_map(|group| &group.runs)
        .map(|run| run.summary.study);
    let first = numbers.next()??;
    let study = studies.get(&first)?;
    let until = study.until_decided.as_ref()?;
    numbers
        .all(|number| number == Some(first))
        .then_some((until, study.looks.as_slice()))
}

/// Steps A and B of an interleaved study. All `runs` belong to this study.
pub(crate) fn study_groups<'a>(runs: &'a [Run], steps: &[StepDescription]) -> [Group<'a>; 2] {
    let name = |number: u32| {
        let step = steps.iter().find(|step| step.step == Some(number));
        let name = step.map_or(String::new(), |step| step.name.clone());
        (name, format!("step {number}"))
    };
    let labels = distinct_labels(&[name(1), name(2)]);
    [1, 2].map(|number| {
        let runs = runs.iter().filter(|run| run.summary.step == Some(number));
        let run = |run: &'a Run| {
            let study = run.summary.study.unwrap_or_default().to_string();
            let repeat = run.summary.repeat;
            let block = repeat.map(|repeat| Block { study, repeat });
            group::ComparedRun::new(run, block)
        };
        Group {
            label: labels[number as usize - 1].clone(),
            runs: runs.map(run).collect(),
        }
    })
}

fn input<'a>(group: &'a StoredGroup, label: String, studies: &Studies) -> Group<'a> {
    let run = |run| group::ComparedRun::new(run, block(run, studies));
    Group {
        label,
        runs: group.runs.iter().map(run).collect(),
    }
}

/// Runs included in the statistics, or all runs if none are included.
pub(crate) fn included_runs(group: &StoredGroup) -> Vec<&Run> {
    let compared = input(group, String::new(), &Studies::new());
    let included = group.runs.iter().zip(compared.is_included());
    let runs: Vec<&Run> = included
        .filter_map(|(run, is_included)| is_included.then_some(run))
        .collect();
    if runs.is_empty() {
        group.runs.iter().collect()
    } else {
        runs
    }
}

/// Returns the study and repeat of a run for pairing. `None` for sequential studies, whose repeats
/// are too far apart in time.
fn block(run: &Run, studies: &Studies) -> Option<Block> {
    let study = run.summary.study?;
    let repeats = studies
        .get(&study)?
        .steps
        .iter()
        .filter_map(|step| step.repeat);
    let is_interleaved = RepeatOrder::of_repeats(repeats) == RepeatOrder::Interleaved;
    let repeat = run.summary.repeat.filter(|_| is_interleaved)?;
    Some(Block {
        study: study.to_string(),
        repeat,
    })
}

/// Labels repeats of a step with the step name, and other groups with their selection text.
fn label(group: &StoredGroup, studies: &Studies) -> String {
    let step = |run: &Run| run.summary.study.zip(run.summary.step);
    let first = group.runs.first().filter(|_| group.runs.len() > 1);
    let first = first.and_then(step);
    let is_one_step = group.runs.iter().all(|run| step(run) == first);
    let name = first.filter(|_| is_one_step).and_then(|(study, number)| {
        let steps = (1..).zip(&studies.get(&study)?.steps);
        let mut named = steps.filter(|(position, step)| step.step.unwrap_or(*position) == number);
        named.next().map(|(_, step)| step.name.clone())
    });
    name.unwrap_or_else(|| group.selection.clone())
}

fn to_compared_run(run: &Run, group: u64) -> ComparedRun {
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
