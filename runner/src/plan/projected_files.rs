//! Files that a study's earlier steps leave on the host.

use crate::plan::host_view::{PathFacts, PathKind};
use leadline_protocol::plan::{
    Plan,
    job::ResolvedJob,
    target::{Target, TargetKind},
};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct ProjectedFiles {
    /// Files by canonical path.
    files: BTreeMap<String, ProjectedFile>,
}

#[derive(Debug)]
struct ProjectedFile {
    length: u64,
    fully_written: Option<bool>,
}

impl ProjectedFiles {
    /// Applies a run's effects on files.
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

    /// Updates facts about a path to its state after the earlier steps.
    pub(crate) fn update(&self, facts: PathFacts) -> PathFacts {
        let Some(file) = self.files.get(&facts.canonical) else {
            return facts;
        };
        let has_same_length = facts.length == file.length;
        let fully_written = match file.fully_written {
            None if has_same_length => facts.fully_written,
            projected => projected,
        };
        PathFacts {
            kind: PathKind::File,
            length: file.length,
            allocated_bytes: match fully_written {
                Some(true) => file.length,
                _ => facts.allocated_bytes,
            },
            fully_written,
            ..facts
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
    // The job only writes, and completes its region without repeating random offsets.
    let writes_all = writes
        && job.pattern.rwmixread.is_none()
        && job.timing.io_size >= job.target.size
        && job.timing.number_ios.is_none()
        && job.timing.runtime_ms.is_none()
        && job.timing.steady_state.is_none()
        && !job.pattern.norandommap
        && target.offset == 0
        && end == length;
    ProjectedFile {
        length,
        fully_written: (is_laid_out || writes_all).then_some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture::{resolved, target};
    use serde_json::json;

    #[test]
    fn jobs_that_may_end_early_do_not_write_the_whole_file() {
        let is_written = |changes| {
            let mut job = resolved(changes);
            job.pattern.rw = leadline_protocol::job::rw::RwKind::Write;
            file_after(&job, &target(0, 1 << 20)).fully_written
        };
        assert_eq!(is_written(json!({})), Some(true));
        let steady_state = json!({"criterion": "iops", "limit": 5.0, "is_percent": true, "duration_s": 10, "ramp_s": 0, "interval_s": 1});
        for changes in [
            json!({"runtime_ms": 1000}),
            json!({"number_ios": 10}),
            json!({"steady_state": steady_state}),
        ] {
            assert_eq!(is_written(changes.clone()), None, "{changes}");
        }
    }
}
