//! Working sets of duplicate blocks that all workers in a run share (`dedupe_global`).

use leadline_protocol::plan::job::ResolvedJob;

/// Adds the list of the run's workers to each job with a global working set (fio dedupe.c,
/// `init_global_dedupe_working_set_seeds`).
pub(crate) fn share_jobs(jobs: &mut [(usize, ResolvedJob)]) {
    let all: Vec<(u64, u32)> = jobs
        .iter()
        .map(|(_, job)| (job.pattern.randseed, job.numjobs))
        .collect();
    for (_, job) in jobs {
        if job.data.dedupe_working_set.is_some_and(|set| set.is_global) {
            job.data.dedupe_jobs.clone_from(&all);
        }
    }
}
