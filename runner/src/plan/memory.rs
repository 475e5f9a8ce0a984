//! Memory for the buffers of I/Os in flight, and whether the kernel holds it for them: each has one of the largest size, whole
//! pages.

use crate::plan::host_view::HostView;
use crate::plan::notes::Notes;
use leadline_protocol::format::bytes;
use leadline_protocol::job::Job;
use leadline_protocol::job::value::EngineName;
use leadline_protocol::plan::resolved::ResolvedJob;

/// The largest piece of memory that io_uring registers as one buffer, in bytes (io_uring/rsrc.c).
const LARGEST_BUFFER: u64 = 1 << 30;
/// Part of the available memory that buffers may take: the other half is everybody else's, the page cache's among them.
const BUFFER_PART: u64 = 2;

/// Bytes of the buffers of a job.
pub(crate) fn buffer_bytes(job: &ResolvedJob) -> u64 {
    clone_bytes(job).saturating_mul(u64::from(job.numjobs))
}

/// Bytes of the buffers of one clone, which are one mapping.
fn clone_bytes(job: &ResolvedJob) -> u64 {
    job.ring
        .mem
        .mapped(u64::from(job.in_flight()), job.largest_buffer())
        .unwrap_or(u64::MAX)
}

/// Settles whose buffers are registered: of jobs that say so, and of all others if that fits as well. The kernel pins the pages, and
/// counts those of all rings of a user together against the limit of locked memory (io_uring/rsrc.c, io_account_mem). Jobs that
/// do not say it are treated alike, so that they can be compared.
pub(crate) fn register(jobs: &mut [(usize, ResolvedJob)], asked: &[Job], host: &dyn HostView) {
    let said = |number: usize| asked[number].fixedbufs.map(|flag| flag.0);
    for (number, job) in jobs
        .iter_mut()
        .filter(|(_, job)| job.ring.ioengine == EngineName::IoUring)
    {
        job.ring.fixedbufs = said(*number).unwrap_or(clone_bytes(job) <= LARGEST_BUFFER);
        job.ring.fixedbufs_said = said(*number).is_some();
    }
    let registered = jobs.iter().filter(|(_, job)| job.ring.fixedbufs);
    let pinned = registered.fold(0u64, |sum, (_, job)| sum.saturating_add(buffer_bytes(job)));
    if pinned > host.lockable_bytes() {
        jobs.iter_mut()
            .filter(|(_, job)| !job.ring.fixedbufs_said)
            .for_each(|(_, job)| job.ring.fixedbufs = false);
    }
}

/// Refuses runs whose buffers do not fit, about the job that takes most. Where the available memory is not known (0), the
/// kernel has the last word.
pub(crate) fn check(jobs: &[(usize, ResolvedJob)], host: &dyn HostView, notes: &mut Notes) {
    let total = jobs
        .iter()
        .fold(0u64, |sum, (_, job)| sum.saturating_add(buffer_bytes(job)));
    let most = host.available_memory() / BUFFER_PART;
    let Some((number, job)) = jobs
        .iter()
        .max_by_key(|(_, job)| buffer_bytes(job))
        .filter(|_| total > most && most > 0)
    else {
        return;
    };
    notes.begin(*number, &job.name);
    let option = if job.in_flight() > 1 {
        "iodepth"
    } else if job.numjobs > 1 {
        "numjobs"
    } else {
        "bs"
    };
    let each = bytes(buffer_bytes(job) / u64::from(job.in_flight()) / u64::from(job.numjobs));
    let sentence = format!(
        "The buffers need {} of memory (this job: iodepth {} × {} clones × {each}), and half of what is available is {}.",
        bytes(total),
        job.in_flight(),
        job.numjobs,
        bytes(most)
    );
    notes.environment(
        "memory_too_small",
        option,
        sentence,
        "Use a smaller iodepth, numjobs or bs.",
    );
}
