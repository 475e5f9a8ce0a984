//! Groups of jobs in a run, for `exitall` with `exit_what=group`.

use leadline_protocol::{job::Job, plan::job::ResolvedJob};

/// Numbers the groups. `new_group` starts a new group, except in the first job (fio init.c,
/// `add_job`). If `exitall` is not set, groups have no effect, and all jobs are in group 0.
pub(crate) fn assign(requested: &[Job], resolved: &mut [(usize, ResolvedJob)]) {
    if !resolved.iter().any(|(_, job)| job.timing.exitall) {
        return;
    }
    for (index, job) in resolved {
        let starts = requested[..=*index].iter().skip(1);
        let groups = starts.filter(|job| job.new_group == Some(true)).count();
        job.timing.exit_group = groups as u32;
    }
}
