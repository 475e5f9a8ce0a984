//! Estimated duration, writes and memory of a run.

use crate::plan::memory::buffer_bytes;
use leadline_protocol::{
    format::bytes,
    plan::{
        Estimate,
        job::ResolvedJob,
        window::{window_begin_ms, window_ms},
    },
};

pub(crate) fn estimate(jobs: &[ResolvedJob]) -> Estimate {
    let ms = window_ms(jobs).map(|window_ms| window_begin_ms(jobs) + window_ms);
    Estimate {
        seconds: ms.map(|ms| ms as f64 / 1000.0),
        seconds_note: seconds_note(jobs, ms.is_some()),
        layout_bytes: layout_bytes(jobs),
        measure_write_bytes: measure_write_bytes(jobs),
        buffer_bytes: jobs.iter().map(buffer_bytes).fold(0, u64::saturating_add),
    }
}

fn seconds_note(jobs: &[ResolvedJob], has_runtime: bool) -> Option<String> {
    let mut notes = Vec::new();
    if !has_runtime {
        notes.push("The run ends when all I/O is complete.".to_owned());
    } else if jobs.iter().any(|job| !job.timing.time_based) {
        notes.push("This is an upper bound: the run ends early if all I/O completes.".to_owned());
    }
    let layout_bytes = layout_bytes(jobs);
    if layout_bytes > 0 {
        let size = bytes(layout_bytes);
        notes.push(format!(
            "Layout writes {size} first, which takes extra time."
        ));
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}

pub(crate) fn layout_bytes(jobs: &[ResolvedJob]) -> u64 {
    jobs.iter()
        .flat_map(|job| &job.targets)
        .map(|target| target.layout_bytes)
        .sum()
}

/// Upper bound; `None` if a writing job is limited only by time.
pub(crate) fn measure_write_bytes(jobs: &[ResolvedJob]) -> Option<u64> {
    let mut total = 0u64;
    for job in jobs {
        total = total.saturating_add(job_write_bytes(job)?);
    }
    Some(total)
}

fn job_write_bytes(job: &ResolvedJob) -> Option<u64> {
    if !job.pattern.rw.writes() {
        return Some(0);
    }
    let by_count = job.timing.number_ios.map(|ios| {
        ios.saturating_mul(job.timing.loops)
            .saturating_mul(job.pattern.bs.write.max)
            .saturating_mul(u64::from(job.numjobs))
    });
    let by_size = (!job.timing.time_based).then(|| {
        (0..job.numjobs)
            .map(|worker| job.io_size_of(worker))
            .fold(0, u64::saturating_add)
    });
    let total = [by_count, by_size].into_iter().flatten().min()?;
    // The share of writes is exact for every 100 I/Os (`pattern::shuffle_bag`).
    let percent = 100 - u128::from(job.pattern.rwmixread.unwrap_or(0));
    Some((u128::from(total) * percent).div_ceil(100) as u64)
}
