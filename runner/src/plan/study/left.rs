//! The host as the steps before will have left it: their files are there, as long as they will have become. So the plan
//! of a step meets what the step itself will meet.

use crate::plan::host_view::{HostView, PathFacts, PathKind};
use leadline_protocol::plan::Plan;
use leadline_protocol::plan::resolved::{ResolvedJob, Target, TargetKind};
use std::collections::BTreeMap;

/// What the steps before leave of a file.
#[derive(Clone, Copy, Debug)]
struct File {
    length: u64,
    fully_written: Option<bool>,
}

/// A host, and the files that steps will have left on it, by their canonical path.
pub(crate) struct Left<'a> {
    host: &'a dyn HostView,
    files: BTreeMap<String, File>,
}

impl<'a> Left<'a> {
    /// The host as it is now.
    pub fn new(host: &'a dyn HostView) -> Self {
        Self {
            host,
            files: BTreeMap::new(),
        }
    }

    /// A step with this plan comes next.
    pub fn leave(&mut self, plan: &Plan) {
        for (job, target) in plan
            .jobs
            .iter()
            .flat_map(|job| job.targets.iter().map(move |target| (job, target)))
        {
            if !matches!(target.kind, TargetKind::File | TargetKind::Loop) {
                continue;
            }
            if job.target.unlink && !target.existed {
                self.files.remove(&target.path);
            } else {
                self.files
                    .insert(target.path.clone(), file_after(job, target));
            }
        }
    }
}

fn file_after(job: &ResolvedJob, target: &Target) -> File {
    let end = if job.pattern.rw.writes() {
        target.offset + target.size
    } else {
        0
    };
    let length = target.length.max(end);
    let laid_out = target.layout_bytes >= length;
    // A job that works through all of its region, once at least, writes every block.
    let written = job.pattern.rw.writes()
        && job.pattern.rwmixread.is_none()
        && job.timing.io_size >= job.target.size
        && job.timing.number_ios.is_none();
    let whole = written
        && job.timing.runtime_ms.is_none()
        && !job.pattern.norandommap
        && target.offset == 0
        && end == length;
    File {
        length,
        fully_written: (laid_out || whole).then_some(true),
    }
}

impl HostView for Left<'_> {
    fn path(&self, path: &str) -> PathFacts {
        let facts = self.host.path(path);
        match self.files.get(&facts.canonical) {
            Some(file) => PathFacts {
                kind: PathKind::File,
                length: file.length,
                // What was there before knows itself better, as long as nothing was added to it.
                fully_written: file
                    .fully_written
                    .or(facts.fully_written.filter(|_| facts.length == file.length)),
                ..facts
            },
            None => facts,
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
