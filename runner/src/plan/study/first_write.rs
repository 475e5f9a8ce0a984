//! The first write to a file also allocates its blocks, so its result is not comparable with those
//! of later writes.

use leadline_protocol::{
    finding::{Finding, Severity},
    job::keyword::FileState,
    plan::{
        Plan,
        job::ResolvedJob,
        target::{Target, TargetKind},
    },
};
use serde_json::json;

/// Reports a new file that the first repeat writes and that later repeats overwrite.
pub(super) fn add_findings(plan: &mut Plan, repeat: u32) {
    if repeat != 1 {
        return;
    }
    let new_file = plan.jobs.iter().find_map(|job| {
        let mut targets = job.targets.iter();
        targets.find(|target| is_written_and_kept(job, target))
    });
    let Some(target) = new_file else {
        return;
    };
    let finding = Finding::new(
        Severity::Warning,
        "first_write_in_repeats",
        format!(
            "The first repeat creates {} and allocates its blocks; the other repeats overwrite it. Comparisons exclude the first repeat.",
            target.path
        ),
        json!({"path": target.path}),
        "Set file_state=overwrite or file_state=fresh, so that all repeats start with the same file.",
    );
    plan.findings.push(finding);
}

fn is_written_and_kept(job: &ResolvedJob, target: &Target) -> bool {
    matches!(target.kind, TargetKind::File | TargetKind::Loop)
        && !target.existed
        && !matches!(job.target.file_state, FileState::Fresh | FileState::Append)
        && !job.target.unlink
        && target.layout_bytes == 0
        && job.pattern.rw.writes()
}
