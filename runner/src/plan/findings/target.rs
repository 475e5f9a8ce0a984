//! Findings about targets and their devices.

use crate::plan::{host_view::HostView, issues::Issues};
use leadline_protocol::{
    finding::Severity::{Note, Serious, Warning},
    format::bytes,
    plan::{
        job::{Mode, ResolvedJob},
        target::TargetKind,
    },
};
use serde_json::json;

pub(super) fn add_findings(job: &ResolvedJob, host: &dyn HostView, issues: &mut Issues) {
    let mut targets = job.targets.iter();
    if let Some(target) =
        targets.find(|target| target.device.is_none() && target.kind != TargetKind::Null)
    {
        let filesystem = target.filesystem.as_deref().unwrap_or("its filesystem");
        let missing = match filesystem {
            "overlay" => "is on an overlay whose block device is not visible",
            _ => "has no block device",
        };
        issues.finding(
            Serious,
            "no_device",
            format!(
                "{} {missing} ({filesystem}), so there are no device counters to compare.",
                target.path
            ),
            None,
            "To measure a disk, use a file on its filesystem.",
        );
    }
    if job.target.file_append && job.mode != Mode::Null {
        issues.finding(
            Note,
            "file_grows",
            "Each run of this job extends the file.",
            None,
            "Remove the file from time to time, or set unlink=1.",
        );
    }
    for target in &job.targets {
        if let Some(device) = &target.device {
            report_device(device, host, issues);
        }
    }
    if job.mode == Mode::Raw && !job.direct {
        issues.finding(
            Warning,
            "raw_buffered",
            "The job uses the page cache of the block device, which the kernel counts as Buffers.",
            None,
            "Set direct=1 to measure the device.",
        );
    }
}

fn report_device(device: &str, host: &dyn HostView, issues: &mut Issues) {
    if let Some(results) = host.data_directory_on(device) {
        issues.finding(
            Note,
            "results_on_device",
            format!("Results are stored in {results}, on the same disk as {device}, which adds load to it."),
            None,
            "Store results on another disk with --data-dir.",
        );
    }
    if let Some(offset) = host.misaligned_by(device) {
        issues.finding(
            Warning,
            "partition_misaligned",
            format!(
                "{device} starts {} after a physical block boundary, so aligned I/O touches an extra block.",
                bytes(offset)
            ),
            json!({"misaligned_bytes": offset}),
            "Align the partition to a multiple of 1 MiB.",
        );
    }
}
