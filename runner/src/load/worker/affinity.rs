//! Sets the CPU affinity, priority and timer slack of the worker's thread.

use crate::load::worker::task::WorkerError;
use leadline_protocol::plan::job::{IoPriority, ResolvedJob};
use rustix::{
    process::setpriority_process,
    thread::{CpuSet, gettid, sched_setaffinity, set_current_timer_slack},
};
use std::{io, num::NonZeroU64};

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
    if let Some(priority) = job.io_priority {
        set_io_priority(priority).map_err(WorkerError::during("setting prio"))?;
    }
    Ok(())
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
            apply(&job).unwrap_or_else(|error| panic!("{}", error.error));
            // SAFETY: ioprio_get(2) takes two integers.
            unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) }
        });
        assert_eq!(priority.join().unwrap(), 3 << 13 | 5);
    }
}
