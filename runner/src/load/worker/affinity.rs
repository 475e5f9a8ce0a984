//! Sets the CPU affinity, priority and timer slack of the worker's thread.

use crate::load::worker::task::WorkerError;
use leadline_protocol::plan::job::ResolvedJob;
use rustix::{
    process::setpriority_process,
    thread::{CpuSet, gettid, sched_setaffinity, set_current_timer_slack},
};
use std::num::NonZeroU64;

pub(crate) fn apply(job: &ResolvedJob) -> Result<(), WorkerError> {
    if !job.cpus_allowed.is_empty() {
        let mut cpus = CpuSet::new();
        for &cpu in &job.cpus_allowed {
            cpus.set(cpu as usize);
        }
        sched_setaffinity(None, &cpus).map_err(WorkerError::during("setting cpus_allowed"))?;
    }
    if job.nice != 0 {
        setpriority_process(Some(gettid()), job.nice)
            .map_err(WorkerError::during("setting nice"))?;
    }
    Ok(())
}

/// Makes sleeps end on time instead of up to 50 µs late (PR_SET_TIMERSLACK).
pub(crate) fn minimize_timer_slack() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}
