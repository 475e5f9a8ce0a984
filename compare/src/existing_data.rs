//! Determines whether written targets contained data before a run.

use leadline_protocol::{plan::job::ResolvedJob, report::Report};

/// Returns whether each written target contained data before the run. The first write to a file
/// also allocates its blocks, so it is a different test from an overwrite.
pub(crate) fn held_data(resolved: &[ResolvedJob], report: Option<&Report>) -> Option<String> {
    let jobs = resolved.iter();
    let writers: Vec<&String> = jobs
        .filter(|job| job.pattern.rw.writes())
        .map(|job| &job.name)
        .collect();
    let mut held = Vec::new();
    for target in report.iter().flat_map(|report| &report.targets) {
        let is_written = target.jobs.iter().any(|job| writers.contains(&job));
        if let Some(held_data) = target.state.is_written().filter(|_| is_written) {
            held.push(if held_data { "yes" } else { "no" });
        }
    }
    (!held.is_empty()).then(|| held.join(" "))
}
