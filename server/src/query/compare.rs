//! Comparison of stored runs; see the `leadline_compare` crate. Pure.

use leadline_compare::group::{self, Block, Group};
use leadline_protocol::{
    compare::{ComparedRun, Comparison},
    report::Report,
    run::Run,
};

/// Runs that form one group of a comparison.
pub(crate) struct StoredGroup {
    pub label: String,
    pub runs: Vec<Run>,
}

/// `baseline` is the index of the baseline group.
pub(crate) fn compare(
    groups: &[StoredGroup],
    baseline: usize,
    threshold_percent: f64,
) -> Comparison {
    let inputs: Vec<Group> = groups.iter().map(input).collect();
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

fn input(group: &StoredGroup) -> Group<'_> {
    let run = |run| group::ComparedRun::new(run, block(run));
    Group {
        label: group.label.clone(),
        runs: group.runs.iter().map(run).collect(),
    }
}

fn block(run: &Run) -> Option<Block> {
    Some(Block {
        study: run.summary.study?,
        repeat: run.summary.repeat?,
    })
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
