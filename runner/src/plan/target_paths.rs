//! Resolves a job's target paths, and checks whether the job may use them. Files are never created
//! under /dev.

mod checks;
mod names;

use crate::plan::{
    host_view::{DirectAlignment, HostView, PathFacts, PathKind},
    issues::Issues,
    job_request::JobRequest,
    space_budget::SpaceBudget,
    states,
};
use leadline_protocol::plan::target::TargetKind;

/// Sector size of a loop device if its backing file does not support direct I/O.
const LOOP_ALIGNMENT: DirectAlignment = DirectAlignment {
    memory: 512,
    offset: 512,
};

#[derive(Debug)]
pub(crate) struct TargetPath {
    pub kind: TargetKind,
    pub facts: PathFacts,
    /// The only worker that uses the path; `None` if all workers use it.
    pub worker: Option<u32>,
}

/// Returns an empty list if no path can be used, or if the job may not access a file.
pub(crate) fn resolve(
    request: &JobRequest,
    host: &dyn HostView,
    budget: &SpaceBudget,
    issues: &mut Issues,
) -> Vec<TargetPath> {
    if request.is_null() {
        let count = names::null_target_count(request, issues);
        return (0..count).map(|_| null_path()).collect();
    }
    let mut paths = Vec::new();
    for name in names::resolve(request, host, issues) {
        let facts = states::apply_state(request.job, budget.facts(&name.path, host), issues);
        let Some(kind) = checks::target_kind(&name, &facts, issues) else {
            break;
        };
        let Some((kind, facts)) = apply_loop_device(request, kind, facts, host, issues) else {
            break;
        };
        let is_allowed = checks::check(request, kind, &facts, name.option, issues);
        // Does not disclose the length of a rejected file. Devices are listed in the inventory
        // anyway.
        if !is_allowed && kind != TargetKind::Device {
            return Vec::new();
        }
        paths.push(TargetPath {
            kind,
            facts,
            worker: name.worker,
        });
    }
    if paths.windows(2).any(|pair| pair[0].kind != pair[1].kind) {
        issues.invalid(
            "mixed_targets",
            "filename",
            "A job cannot use both files and devices.",
            "Use separate jobs for files and devices.",
        );
    }
    paths
}

/// If `loop_device` is set, replaces a file with a loop device backed by it. Returns `None` for
/// devices.
fn apply_loop_device(
    request: &JobRequest,
    kind: TargetKind,
    facts: PathFacts,
    host: &dyn HostView,
    issues: &mut Issues,
) -> Option<(TargetKind, PathFacts)> {
    if !request.job.loop_device() {
        return Some((kind, facts));
    }
    if kind == TargetKind::Device {
        issues.invalid(
            "loop_requires_file",
            "loop_device",
            format!(
                "loop_device requires a file; {} is a device.",
                facts.canonical
            ),
            "Remove loop_device, or use a file.",
        );
        return None;
    }
    if let Some((reason, remedy)) = host.loop_unavailable() {
        issues.environment("loop_unavailable", "loop_device", reason, remedy);
    }
    // Loop devices support direct I/O even if the backing file's filesystem does not.
    let direct_alignment = facts.direct_alignment.or(Ok(LOOP_ALIGNMENT));
    let facts = PathFacts {
        direct_alignment,
        can_poll: false,
        ..facts
    };
    Some((TargetKind::Loop, facts))
}

/// Placeholder target of `ioengine=null`.
fn null_path() -> TargetPath {
    TargetPath {
        kind: TargetKind::Null,
        facts: PathFacts {
            kind: PathKind::Missing,
            canonical: "null".into(),
            length: 0,
            allocated_bytes: 0,
            filesystem: None,
            device: None,
            identity: None,
            direct_alignment: Ok(DirectAlignment {
                memory: 1,
                offset: 1,
            }),
            can_poll: true,
            free_bytes: 0,
            fully_written: None,
            is_owned: false,
            under_target_root: true,
            read_problem: None,
            write_problem: None,
        },
        worker: None,
    }
}
