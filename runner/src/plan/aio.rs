//! Limits of Linux AIO. All contexts on the host share `fs.aio-max-nr`
//! (Documentation/admin-guide/sysctl/fs.rst), and each worker needs one entry per I/O in flight.

use crate::plan::{host_view::HostView, issues::Issues};
use leadline_protocol::{job::engine::EngineName, plan::job::ResolvedJob};

/// The problem refers to the first job that uses libaio.
pub(crate) fn check(jobs: &[(usize, ResolvedJob)], host: &dyn HostView, issues: &mut Issues) {
    let users = || {
        let jobs = jobs.iter();
        jobs.filter(|(_, job)| job.ring.ioengine == EngineName::Libaio)
    };
    let Some((index, first)) = users().next() else {
        return;
    };
    issues.begin_job(*index, &first.name);
    let needed: u64 = users()
        .map(|(_, job)| u64::from(job.in_flight()) * u64::from(job.numjobs))
        .sum();
    match host.available_aio() {
        None => issues.environment(
            "aio_unavailable",
            "ioengine",
            "Linux AIO is unavailable (the kernel was built without CONFIG_AIO, or a sandbox blocks it).",
            "Use ioengine=io_uring or ioengine=psync.",
        ),
        Some(available) if needed > available => issues.environment(
            "aio_limit",
            "iodepth",
            format!(
                "libaio needs {needed} I/Os in flight (iodepth × numjobs); the host has {available} left."
            ),
            "Use a smaller iodepth or numjobs, ioengine=io_uring, or raise the limit with sysctl fs.aio-max-nr.",
        ),
        Some(_) => {}
    }
}
