//! Sets the CPU affinity, priority and timer slack of the worker's thread.

use crate::load::worker::task::WorkerError;
use leadline_protocol::{
    job::keyword::CpuPolicy,
    plan::job::{IoPriority, ResolvedJob},
};
use rustix::{
    process::setpriority_process,
    thread::{CpuSet, gettid, sched_setaffinity, set_current_timer_slack},
};
use std::{io, num::NonZeroU64};

/// `index`: position of the worker in the run.
pub(crate) fn apply(job: &ResolvedJob, index: usize) -> Result<(), WorkerError> {
    if !job.cpus_allowed.is_empty() {
        let mut cpus = CpuSet::new();
        for cpu in allowed_cpus(job, index) {
            cpus.set(cpu as usize);
        }
        sched_setaffinity(None, &cpus).map_err(WorkerError::during("setting cpus_allowed"))?;
    }
    if job.nice != 0 {
        setpriority_process(Some(gettid()), job.nice)
            .map_err(WorkerError::during("setting nice"))?;
    }
    if let Some(priority) = job.io_priority {
        set_io_priority(priority).map_err(WorkerError::during("setting prio"))?;
    }
    Ok(())
}

/// CPUs that a worker is allowed to use. With `split`, each worker gets a single CPU, assigned
/// round-robin as in fio (fio_cpus_split).
fn allowed_cpus(job: &ResolvedJob, index: usize) -> Vec<u32> {
    let cpus = &job.cpus_allowed;
    match job.cpus_allowed_policy {
        CpuPolicy::Shared => cpus.clone(),
        CpuPolicy::Split => vec![cpus[index % cpus.len()]],
    }
}

/// Sets the I/O priority of the current thread; io_uring and libaio use it for their I/Os.
fn set_io_priority(priority: IoPriority) -> io::Result<()> {
    /// linux/ioprio.h.
    const WHO_PROCESS: libc::c_int = 1;
    const CLASS_SHIFT: u32 = 13;
    let value =
        libc::c_int::from(priority.class) << CLASS_SHIFT | libc::c_int::from(priority.level);
    // SAFETY: ioprio_set(2) takes three integers; thread 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Makes sleeps end on time instead of up to 50 µs late (PR_SET_TIMERSLACK).
pub(crate) fn minimize_timer_slack() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture::resolved;
    use serde_json::json;

    #[test]
    fn io_priority_applies_to_the_thread() {
        let job = resolved(json!({"io_priority": {"class": 3, "level": 5}}));
        let priority = std::thread::spawn(move || {
            apply(&job, 0).unwrap_or_else(|error| panic!("{}", error.error));
            // SAFETY: ioprio_get(2) takes two integers.
            unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) }
        });
        assert_eq!(priority.join().unwrap(), 3 << 13 | 5);
    }

    #[test]
    fn split_gives_each_worker_one_cpu() {
        let job = |policy: &str| {
            resolved(json!({"cpus_allowed": [1, 3, 8], "cpus_allowed_policy": policy}))
        };
        assert_eq!(allowed_cpus(&job("shared"), 1), [1, 3, 8]);
        let split = job("split");
        let cpus: Vec<u32> = (0..5)
            .flat_map(|index| allowed_cpus(&split, index))
            .collect();
        assert_eq!(cpus, [1, 3, 8, 1, 3]);
    }
}
