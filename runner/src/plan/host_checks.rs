//! Checks options that require specific CPUs or privileges.

use crate::plan::{host_view::HostView, issues::Issues};
use leadline_protocol::job::Job;

pub(crate) fn check(job: &Job, host: &dyn HostView, issues: &mut Issues) {
    check_cpus(job, host, issues);
    if host.may_drop_caches() {
        return;
    }
    if job.drop_caches() {
        issues.environment(
            "root_required",
            "drop_caches",
            "drop_caches requires root.",
            "Run as root, or use invalidate=1 to drop only the target's pages.",
        );
    }
    if job.nice() < 0 {
        issues.environment(
            "root_required",
            "nice",
            "A negative nice value requires root.",
            "Run as root, or use nice=0 or higher.",
        );
    }
    if job.prioclass == Some(1) {
        issues.environment(
            "root_required",
            "prioclass",
            "The realtime I/O priority class requires root.",
            "Run as root, or use prioclass=2 (best effort).",
        );
    }
}

fn check_cpus(job: &Job, host: &dyn HostView, issues: &mut Issues) {
    let Some(allowed) = &job.cpus_allowed else {
        return;
    };
    let available = host.cpus();
    let missing: Vec<String> = allowed
        .0
        .iter()
        .filter(|cpu| !available.contains(cpu))
        .map(u32::to_string)
        .collect();
    if !missing.is_empty() {
        issues.environment(
            "cpu_unavailable",
            "cpus_allowed",
            format!("CPUs not available to the runner: {}.", missing.join(", ")),
            format!("Use only CPUs in {available:?}."),
        );
    }
}
