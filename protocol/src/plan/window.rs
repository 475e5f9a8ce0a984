//! The measured window of a run, in ms since the workers started.

use crate::plan::job::{Mode, ResolvedJob};

/// Start of the measured window: the lowest `startdelay` + `ramp_time` of all jobs.
pub fn window_begin_ms<'a>(jobs: impl IntoIterator<Item = &'a ResolvedJob>) -> u64 {
    jobs.into_iter().map(measured_from_ms).min().unwrap_or(0)
}

/// Length of the measured window, until the last job ends; `None` if any job is limited by size.
pub fn window_ms(jobs: &[ResolvedJob]) -> Option<u64> {
    let mut last_end = None;
    for job in jobs {
        last_end = last_end.max(Some(measured_from_ms(job) + job.timing.runtime_ms?));
    }
    Some(last_end? - window_begin_ms(jobs))
}

/// Jobs whose ramp extends into the measured window of the run. The device and process counters for
/// the window include the I/O of these ramps; the issued counts do not.
pub fn late_ramps(jobs: &[ResolvedJob]) -> impl Iterator<Item = &ResolvedJob> {
    let begin_ms = window_begin_ms(jobs);
    jobs.iter().filter(move |job| {
        job.mode != Mode::Null && job.timing.ramp_ms > 0 && measured_from_ms(job) > begin_ms
    })
}

pub fn measured_from_ms(job: &ResolvedJob) -> u64 {
    job.timing.startdelay_ms + job.timing.ramp_ms
}
