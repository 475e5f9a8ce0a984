//! Estimates the duration, writes and memory use of a run.

use crate::plan::memory::buffer_bytes;
use leadline_protocol::{
    format::bytes,
    plan::{
        Estimate,
        job::{MixRate, ResolvedJob},
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
    } else if jobs.iter().any(|job| job.timing.steady_state.is_some()) {
        notes.push("This is an upper bound: the run ends early at steady state.".to_owned());
    } else if jobs.iter().any(|job| job.timing.overload.is_some()) {
        notes.push("This is an upper bound: the run ends early if it is overloaded.".to_owned());
    }
    if jobs.len() > 1 && jobs.iter().any(|job| job.timing.exitall) {
        notes.push(
            "When a worker in a job with exitall ends, other jobs end too, as set by exit_what."
                .to_owned(),
        );
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

/// Upper bound on the bytes written while measuring; `None` if only the runtime limits the writes.
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
    (0..job.numjobs)
        .map(|worker| worker_write_bytes(job, worker))
        .try_fold(0u64, |total, bytes| Some(total.saturating_add(bytes?)))
}

fn worker_write_bytes(job: &ResolvedJob, worker: u32) -> Option<u64> {
    let timing = &job.timing;
    let by_count = timing.number_ios.map(|ios| {
        let ios = ios.saturating_mul(timing.loops);
        writes_within(job, ios, 1, 1).saturating_mul(job.pattern.bs.write.max)
    });
    let by_size = (!timing.time_based).then(|| {
        let bs = &job.pattern.bs;
        writes_within(job, job.io_size_of(worker), bs.read.min, bs.write.max)
    });
    [by_count, by_size].into_iter().flatten().min()
}

/// Upper bound on the writes among a job's `total` I/Os or bytes. `read`, `write`: the smallest
/// read and the largest write, in the same unit.
fn writes_within(job: &ResolvedJob, total: u64, read: u64, write: u64) -> u64 {
    let Some(reads) = job.pattern.rwmixread else {
        return total;
    };
    if job.mix_rates().is_some() {
        return rated_writes_within(job, total, write);
    }
    // Every 100 I/Os contain the exact mix (`pattern::shuffle_bag`), but the writes may come first.
    let writes_per_round = u64::from(100 - reads) * write;
    let round = u64::from(reads) * read + writes_per_round;
    total / round * writes_per_round + (total % round).min(writes_per_round)
}

/// Same as [`writes_within`], if rates for both directions determine the mix.
fn rated_writes_within(job: &ResolvedJob, total: u64, write: u64) -> u64 {
    let Some([reads, writes]) = job.mix_rates() else {
        return total;
    };
    let is_count = write == 1;
    let per_second = |rate: MixRate, bytes: u64| {
        let ios = rate.ios.map_or(0.0, |ios| ios as f64);
        match (is_count, rate.bytes) {
            (true, None) => ios,
            (true, Some(rate)) => rate as f64 / bytes as f64,
            (false, None) => ios * bytes as f64,
            (false, Some(rate)) => rate as f64,
        }
    };
    let bs = &job.pattern.bs;
    // Assumes small reads and large writes, or vice versa if the rates are in bytes.
    let (read_bytes, write_bytes) = match (is_count, writes.bytes) {
        (true, Some(_)) => (bs.read.max, bs.write.min),
        _ => (bs.read.min, bs.write.max),
    };
    let writes = per_second(writes, write_bytes);
    let share = writes / (writes + per_second(reads, read_bytes));
    let bound = (total as f64 * share).ceil() as u64;
    bound.saturating_add(write).min(total)
}
