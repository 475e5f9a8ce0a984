//! Checks one target: file type, guard, target roots and capabilities.

use crate::plan::{
    host_view::{PathFacts, PathKind},
    issues::Issues,
    job_request::JobRequest,
    target_paths::names::TargetName,
};
use leadline_protocol::{plan::target::TargetKind, problem::Problem};
use std::path::Path;

/// Kind of an existing path, or of the file to create. If the path cannot be a target, adds a
/// problem and returns `None`.
pub(super) fn target_kind(
    name: &TargetName,
    facts: &PathFacts,
    issues: &mut Issues,
) -> Option<TargetKind> {
    let path = &name.path;
    let is_node = is_device_path(path);
    let under_dev =
        is_device_path(&facts.canonical) || facts.filesystem.as_deref() == Some("devtmpfs");
    // Does not disclose which files exist outside the target roots.
    if !facts.under_target_root && !under_dev && facts.kind != PathKind::Device {
        issues.problem(outside_roots_problem(path, name.option), name.option);
        return None;
    }
    let (code, detail, remedy) = match facts.kind {
        PathKind::File | PathKind::Missing if !under_dev => return Some(TargetKind::File),
        PathKind::Device => return Some(TargetKind::Device),
        PathKind::Missing | PathKind::MissingDirectory if under_dev || is_node => (
            "missing_device",
            format!("The device {path} does not exist, and devices are never created."),
            "Use a device listed by `leadline-runner devices`.".into(),
        ),
        PathKind::MissingDirectory => {
            let directory = Path::new(path).parent().unwrap_or(Path::new(""));
            (
                "missing_directory",
                format!("The directory of {path} does not exist."),
                format!("Create it: mkdir -p {}", directory.display()),
            )
        }
        PathKind::Directory if under_dev || is_node => (
            "no_device",
            format!("{path} is not a device."),
            "Choose a device listed by `leadline-runner devices`.".into(),
        ),
        PathKind::Directory => (
            "is_a_directory",
            format!("{path} is a directory."),
            format!(
                "Use a file in it, or set directory={path} and remove filename to generate files."
            ),
        ),
        PathKind::File | PathKind::Missing | PathKind::Other => (
            "unsupported_file_type",
            format!("{path} is neither a regular file nor a block device."),
            "Use a file, or a device listed by `leadline-runner devices`.".into(),
        ),
    };
    issues.invalid(code, name.option, detail, remedy);
    None
}

/// Whether only device nodes are expected at the path. `/dev/shm` is a tmpfs for files.
fn is_device_path(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// Returns false if the guard rejects the target or it is outside the target roots.
pub(super) fn check(
    request: &JobRequest,
    kind: TargetKind,
    facts: &PathFacts,
    option: &str,
    issues: &mut Issues,
) -> bool {
    check_capabilities(request, kind, facts, issues);
    if facts.kind == PathKind::Missing && !request.job.allow_file_create() {
        issues.invalid(
            "missing_file",
            option,
            format!(
                "{} does not exist, and allow_file_create=0.",
                facts.canonical
            ),
            "Create the file first, or remove allow_file_create.",
        );
    }
    if let Some(problem) = access_problem(request, facts) {
        issues.problem(problem, option);
        return false;
    }
    true
}

fn access_problem(request: &JobRequest, facts: &PathFacts) -> Option<Problem> {
    let rw = request.rw.kind;
    let read = facts.read_problem.as_ref().filter(|_| rw.reads());
    let write = facts.write_problem.as_ref().filter(|_| rw.is_destructive());
    read.or(write).cloned()
}

fn outside_roots_problem(path: &str, option: &str) -> Problem {
    let detail = format!("{path} is outside the target roots.");
    let remedy = "Use a file under a target root, or add its directory with --target-root.";
    Problem::guard("outside_roots", option, detail, remedy)
}

fn check_capabilities(
    request: &JobRequest,
    kind: TargetKind,
    facts: &PathFacts,
    issues: &mut Issues,
) {
    let path = &facts.canonical;
    if let Err(reason) = &facts.direct_alignment
        && request.direct
    {
        let reason = reason.trim_end_matches('.');
        issues.environment(
            "direct_unsupported",
            "direct",
            format!("{path} does not support O_DIRECT: {reason}."),
            "Set direct=0, or use a filesystem with O_DIRECT, such as ext4 or xfs.",
        );
    }
    if request.job.hipri() && request.direct && kind != TargetKind::Null && !facts.can_poll {
        let device = facts.device.as_deref().unwrap_or(path);
        issues.environment(
            "hipri_unsupported",
            "hipri",
            format!("{device} does not support polling (queue/io_poll in sysfs is not 1)."),
            "Remove hipri. NVMe polls if its driver is loaded with poll_queues=1 or more.",
        );
    }
    if request.rw.kind.trims() && kind == TargetKind::File {
        issues.invalid(
            "trim_requires_device",
            "rw",
            format!("{path} is a file; trims require a block device."),
            "Use a block device, or a pattern that reads or writes.",
        );
    }
}
