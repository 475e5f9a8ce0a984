//! Whether the filesystem writes metadata in addition to the issued writes. If so, device bytes in
//! excess of the run's may be journal and metadata tree writes instead of foreign I/O.

use crate::analysis::verdict::evidence::targets::OVERLAY;
use leadline_protocol::{
    evidence::target::TargetReport,
    job::keyword::SyncMode,
    plan::{job::ResolvedJob, target::TargetKind},
};

/// Filesystems that write data blocks and metadata trees to new locations.
const COPY_ON_WRITE: &[&str] = &["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];

/// `None` if no metadata is expected: raw devices, or overwrites of allocated blocks.
pub(crate) fn metadata_reason(
    job: &ResolvedJob,
    targets: &[&TargetReport],
) -> Option<&'static str> {
    let is_file = |target: &&&TargetReport| {
        target.kind == TargetKind::File && target.jobs.contains(&job.name)
    };
    let files: Vec<&&TargetReport> = targets.iter().filter(is_file).collect();
    if files.is_empty() {
        return None;
    }
    let filesystems = || files.iter().filter_map(|file| file.filesystem.as_deref());
    let has_syncs =
        job.target.sync != SyncMode::None || job.pattern.fsync > 0 || job.pattern.fdatasync > 0;
    if filesystems().any(|name| COPY_ON_WRITE.contains(&name)) {
        Some("copy on write")
    } else if filesystems().any(|name| name == OVERLAY) {
        Some("filesystem below the overlay")
    } else if job.target.file_append {
        Some("growing file")
    } else if has_syncs {
        Some("journal commit with every sync")
    } else if files
        .iter()
        .any(|file| file.state.is_written() != Some(true))
    {
        Some("block allocation")
    } else {
        None
    }
}
