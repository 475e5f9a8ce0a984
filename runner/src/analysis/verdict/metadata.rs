//! Whether a filesystem has to write on its own account beside a job: then bytes of the device beyond the job's own may
//! be its journal and its trees, and not a neighbour's.

use leadline_protocol::evidence::TargetReport;
use leadline_protocol::job::value::SyncMode;
use leadline_protocol::plan::resolved::{ResolvedJob, TargetKind};

/// Filesystems that write every block elsewhere, and their trees with it.
const COPY_ON_WRITE: &[&str] = &["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];

/// The reason; `None` where metadata is not to be expected: a raw device, or blocks that are there and only overwritten.
pub(crate) fn reason(job: &ResolvedJob, targets: &[&TargetReport]) -> Option<&'static str> {
    let mut files = targets
        .iter()
        .filter(|target| target.kind == TargetKind::File && target.jobs.contains(&job.name))
        .peekable();
    files.peek()?;
    let filesystem = |target: &&TargetReport| {
        target
            .filesystem
            .as_deref()
            .is_some_and(|name| COPY_ON_WRITE.contains(&name))
    };
    if files.clone().any(filesystem) {
        Some("it copies on write")
    } else if job.target.file_append {
        Some("the file grows")
    } else if job.target.sync != SyncMode::None
        || job.pattern.fsync > 0
        || job.pattern.fdatasync > 0
    {
        Some("its journal is committed with every sync")
    } else if files.any(|target| target.state.is_written() != Some(true)) {
        Some("blocks are allocated")
    } else {
        None
    }
}
