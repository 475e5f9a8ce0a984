//! The open targets of all workers.

use crate::system::target::{OpenTarget, Targets};
use leadline_protocol::{plan::job::ResolvedJob, problem::Problem};

pub(crate) struct OpenTargets {
    pub workers: Vec<WorkerTargets>,
}

pub(crate) struct WorkerTargets {
    /// Index of the job in the run.
    pub job: usize,
    /// Number of the worker within its job, from 0.
    pub number: u32,
    pub targets: Vec<OpenTarget>,
}

impl OpenTargets {
    pub(crate) fn open(targets: &mut Targets, jobs: &[ResolvedJob]) -> Result<Self, Problem> {
        let mut workers = Vec::new();
        for (index, job) in jobs.iter().enumerate() {
            for (number, targets) in (0..).zip(targets.open(job)?) {
                workers.push(WorkerTargets {
                    job: index,
                    number,
                    targets,
                });
            }
        }
        Ok(Self { workers })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenTarget> + Clone {
        self.workers.iter().flat_map(|worker| &worker.targets)
    }
}
