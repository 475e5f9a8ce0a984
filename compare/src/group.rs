//! Input to a comparison.

use crate::existing_data::held_data;
use leadline_protocol::{
    finding::Finding, host::HostFacts, plan::job::ResolvedJob, report::Report, run::Run,
    status::RunStatus, verdict::Verdicts,
};
use std::collections::BTreeMap;

/// Labels of the two groups of a trend comparison. Sentences contain them without quotes.
pub const BASELINE_LABEL: &str = "the baseline";
pub const NEWEST_GROUP_LABEL: &str = "the newest group";

/// Formats a label for a sentence: in quotes, except for run and study numbers such as `#12` and
/// the labels of a trend.
pub(crate) fn quoted(label: &str) -> String {
    if label.starts_with('#') || [BASELINE_LABEL, NEWEST_GROUP_LABEL].contains(&label) {
        label.to_owned()
    } else {
        format!("“{label}”")
    }
}

/// A group of repeats of a test.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub label: String,
    pub runs: Vec<ComparedRun<'a>>,
}

#[derive(Clone, Debug)]
pub struct ComparedRun<'a> {
    /// For example, `#12` or a file name. Runs with the same label are the same run.
    pub label: String,
    /// `None` for a result that is not stored on the server.
    pub number: Option<u64>,
    pub status: RunStatus,
    pub sample_ms: u32,
    pub resolved: &'a [ResolvedJob],
    pub host: Option<&'a HostFacts>,
    pub report: Option<&'a Report>,
    pub verdict: Option<&'a Verdicts>,
    pub findings: &'a [Finding],
    pub block: Option<Block>,
    /// Whether the study has `until_decided` and the run is newer than the study's last look.
    pub is_after_look: bool,
}

/// Runs of different groups in the same block form a pair: they ran one after the other, in random
/// order. Runs of sequential studies have no block.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Block {
    /// Identifies the study, even among studies from multiple servers or files.
    pub study: String,
    /// One-based.
    pub repeat: u32,
}

impl Group<'_> {
    /// Runs that are included in the statistics.
    pub fn included(&self) -> impl Iterator<Item = &ComparedRun<'_>> {
        let first_writes = self.first_writes();
        let runs = self.runs.iter().enumerate();
        runs.filter(move |(index, run)| run.is_usable() && !first_writes.contains(index))
            .map(|(_, run)| run)
    }

    /// Whether each run is included in the statistics.
    pub fn is_included(&self) -> Vec<bool> {
        let first_writes = self.first_writes();
        let runs = self.runs.iter().enumerate();
        runs.map(|(index, run)| run.is_usable() && !first_writes.contains(&index))
            .collect()
    }

    /// Indices of the runs that wrote their files for the first time. The first write also
    /// allocates a file's blocks, so it is not a repeat of runs that overwrite the file. Empty if
    /// most runs are first writes, because the test then measures first writes.
    pub(crate) fn first_writes(&self) -> Vec<usize> {
        let runs = self.runs.iter().enumerate();
        let held: Vec<(usize, String)> = runs
            .filter(|(_, run)| run.is_usable())
            .filter_map(|(index, run)| Some((index, held_data(run.resolved, run.report)?)))
            .collect();
        let first_writes = held.iter().filter(|(_, held)| held.contains("no"));
        let first_writes: Vec<usize> = first_writes.map(|(index, _)| *index).collect();
        if first_writes.len() * 2 <= held.len() {
            first_writes
        } else {
            Vec::new()
        }
    }
}

impl<'a> ComparedRun<'a> {
    pub fn new(run: &'a Run, block: Option<Block>) -> Self {
        Self {
            label: format!("#{}", run.summary.number),
            number: Some(run.summary.number),
            status: run.summary.status,
            sample_ms: run.sample_ms,
            resolved: run.resolved.as_deref().unwrap_or_default(),
            host: run.host_facts.as_ref(),
            report: run.report.as_ref(),
            verdict: run.verdict.as_ref(),
            findings: &run.findings,
            block,
            is_after_look: false,
        }
    }

    /// Settings of another program's result, by name; `None` for Leadline results.
    pub(crate) fn foreign_settings(&self) -> Option<&'a BTreeMap<String, String>> {
        let foreign = self.report?.foreign.as_ref()?;
        Some(&foreign.settings)
    }

    /// Whether the run completed and has a report.
    pub fn is_complete(&self) -> bool {
        self.status == RunStatus::Done && self.report.is_some()
    }

    fn is_usable(&self) -> bool {
        self.is_complete() && !self.is_after_look
    }

    /// Time from the start to the end of the run.
    pub(crate) fn elapsed_ms(&self) -> f64 {
        let Some(report) = self.report else {
            return 0.0;
        };
        let phases = report.phases.iter();
        phases
            .map(|phase| phase.start_ms + phase.duration_ms)
            .fold(report.duration_ms, f64::max)
    }

    pub(crate) fn has_finding(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }
}

/// The runs of all groups, in group order.
pub(crate) fn all_runs<'g, 'a>(
    groups: &'g [Group<'a>],
) -> impl Iterator<Item = &'g ComparedRun<'a>> {
    groups.iter().flat_map(|group| &group.runs)
}

/// Whether all runs are in blocks of one study.
pub fn all_in_one_study(groups: &[Group]) -> bool {
    let mut studies = all_runs(groups).map(|run| run.block.as_ref().map(|block| &block.study));
    let first = studies.next().flatten();
    first.is_some() && studies.all(|study| study == first)
}

/// Makes labels unique: appends the selection to labels that occur more than once, or a number if
/// the selections are equal too.
pub fn distinct_labels(labels: &[(String, String)]) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for (index, (label, selection)) in labels.iter().enumerate() {
        let mut others = labels.iter().enumerate();
        let is_repeated = others.any(|(other, (text, _))| other != index && text == label);
        let mut text = match is_repeated && selection != label {
            true => format!("{label} ({})", selection_text(selection)),
            false => label.clone(),
        };
        if distinct.contains(&text) {
            text = format!("{text} ({})", index + 1);
        }
        distinct.push(text);
    }
    distinct
}

/// `step 2 of study 11` for `study:11/step:2`.
fn selection_text(selection: &str) -> String {
    let study = selection.strip_prefix("study:");
    match study.and_then(|study| study.split_once("/step:")) {
        Some((study, step)) => format!("step {step} of study {study}"),
        None => selection.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::distinct_labels;

    #[test]
    fn equal_labels_include_their_selection() {
        let labels = [
            ("read", "study:1/step:1"),
            ("read", "study:2/step:1"),
            ("write", "write"),
            ("same", "same"),
            ("same", "same"),
        ];
        let labels = labels.map(|(label, selection)| (label.to_owned(), selection.to_owned()));
        assert_eq!(
            distinct_labels(&labels),
            [
                "read (step 1 of study 1)",
                "read (step 1 of study 2)",
                "write",
                "same",
                "same (5)"
            ]
        );
    }
}
