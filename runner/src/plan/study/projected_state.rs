//! State of the host after earlier steps of a study: the files that they leave, with their lengths.

use crate::plan::host_view::{HostView, PathFacts, PathKind};
use leadline_protocol::plan::Plan;
use leadline_protocol::plan::job::ResolvedJob;
use leadline_protocol::plan::target::{Target, TargetKind};
use std::collections::BTreeMap;

pub(crate) struct ProjectedState<'a> {
    host: &'a dyn HostView,
    /// By canonical path.
    files: BTreeMap<String, ProjectedFile>,
}

#[derive(Clone, Copy, Debug)]
struct ProjectedFile {
    length: u64,
    fully_written: Option<bool>,
}

impl<'a> ProjectedState<'a> {
    pub(crate) fn new(host: &'a dyn HostView) -> Self {
        Self {
            host,
            files: BTreeMap::new(),
        }
    }

    /// Applies the effects of a step.
    pub(crate) fn apply(&mut self, plan: &Plan) {
        for job in &plan.jobs {
            for target in &job.targets {
                if !matches!(target.kind, TargetKind::File | TargetKind::Loop) {
                    continue;
                }
                if job.target.unlink && !target.existed {
                    self.files.remove(&target.path);
                } else {
                    let file = file_after(job, target);
                    self.files.insert(target.path.clone(), file);
                }
            }
        }
    }
}

fn file_after(job: &ResolvedJob, target: &Target) -> ProjectedFile {
    let writes = job.pattern.rw.writes();
    let end = if writes {
        target.offset + target.size
    } else {
        0
    };
    let length = target.length.max(end);
    let is_laid_out = target.layout_bytes >= length;
    // A job that only writes and completes its region without repeating random offsets.
    let writes_all = writes
        && job.pattern.rwmixread.is_none()
        && job.timing.io_size >= job.target.size
        && job.timing.number_ios.is_none()
        && job.timing.runtime_ms.is_none()
        && !job.pattern.norandommap
        && target.offset == 0
        && end == length;
    ProjectedFile {
        length,
        fully_written: (is_laid_out || writes_all).then_some(true),
    }
}

impl HostView for ProjectedState<'_> {
    fn path(&self, path: &str) -> PathFacts {
        let facts = self.host.path(path);
        let Some(file) = self.files.get(&facts.canonical) else {
            return facts;
        };
        let known = if facts.length == file.length {
            facts.fully_written
        } else {
            None
        };
        PathFacts {
            kind: PathKind::File,
            length: file.length,
            fully_written: file.fully_written.or(known),
            ..facts
        }
    }

    fn default_directory(&self) -> String {
        self.host.default_directory()
    }

    fn available_memory(&self) -> u64 {
        self.host.available_memory()
    }

    fn io_uring_unavailable(&self) -> Option<(String, String)> {
        self.host.io_uring_unavailable()
    }

    fn kernel_version(&self) -> Option<(u32, u32)> {
        self.host.kernel_version()
    }

    fn loop_unavailable(&self) -> Option<(String, String)> {
        self.host.loop_unavailable()
    }

    fn cpus(&self) -> Vec<u32> {
        self.host.cpus()
    }

    fn lockable_bytes(&self) -> u64 {
        self.host.lockable_bytes()
    }

    fn results_on(&self, device: &str) -> Option<String> {
        self.host.results_on(device)
    }

    fn misaligned_by(&self, device: &str) -> Option<u64> {
        self.host.misaligned_by(device)
    }

    fn may_drop_caches(&self) -> bool {
        self.host.may_drop_caches()
    }

    fn entropy(&self) -> u64 {
        self.host.entropy()
    }
}
