//! Memory for the buffers of I/Os in flight: each has one of the largest size, whole pages.

use super::notes::Notes;
use super::resolved::ResolvedJob;
use super::settle::in_flight;
use super::view::HostView;
use crate::print::number::bytes;

/// Pages are what buffers are cut from; 4 KiB on most machines, and on the others the sum stays near enough.
const PAGE_BYTES: u64 = 4096;
/// Part of the available memory that buffers may take: the other half is everybody else's, the page cache's among them.
const BUFFER_PART: u64 = 2;

/// Bytes of the buffers of a job.
pub(super) fn buffer_bytes(job: &ResolvedJob) -> u64 {
    let each = job.largest_buffer().checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX);
    each.saturating_mul(u64::from(in_flight(job))).saturating_mul(u64::from(job.numjobs))
}

/// Refuses runs whose buffers do not fit, about the job that takes most. Where the available memory is not known (0), the
/// kernel has the last word.
pub(super) fn check(jobs: &[(usize, ResolvedJob)], host: &dyn HostView, notes: &mut Notes) {
    let total = jobs.iter().fold(0u64, |sum, (_, job)| sum.saturating_add(buffer_bytes(job)));
    let most = host.available_memory() / BUFFER_PART;
    let Some((number, job)) = jobs.iter().max_by_key(|(_, job)| buffer_bytes(job)).filter(|_| total > most && most > 0) else {
        return;
    };
    notes.begin(*number, &job.name);
    let option = if in_flight(job) > 1 {
        "iodepth"
    } else if job.numjobs > 1 {
        "numjobs"
    } else {
        "bs"
    };
    let each = bytes(buffer_bytes(job) / u64::from(in_flight(job)) / u64::from(job.numjobs));
    let sentence = format!(
        "The buffers need {} of memory (this job: iodepth {} × {} clones × {each}), and half of what is available is {}.",
        bytes(total),
        in_flight(job),
        job.numjobs,
        bytes(most)
    );
    notes.environment("memory_too_small", option, sentence, "Use a smaller iodepth, numjobs or bs.");
}
