//! The phases to come and what they cost, as far as that can be known before: times that the job sets, and bytes.

use crate::plan::memory::buffer_bytes;
use leadline_protocol::format::bytes;
use leadline_protocol::phase::Phase;
use leadline_protocol::plan::resolved::{Mode, ResolvedJob, TargetKind};
use leadline_protocol::plan::{Estimate, PlannedPhase};

/// The phases in order.
pub(crate) fn phases(jobs: &[ResolvedJob]) -> Vec<PlannedPhase> {
    let any = |f: fn(&ResolvedJob) -> bool| jobs.iter().any(f);
    let makes_files = |job: &ResolvedJob| {
        job.targets.iter().any(|target| {
            matches!(target.kind, TargetKind::File | TargetKind::Loop)
                && (!target.existed || target.layout_bytes > 0)
        })
    };
    let layout = layout_bytes(jobs);
    let (ramp_ms, measure) = (window_begin_ms(jobs), window_ms(jobs).map(seconds));
    let plain = |phase| PlannedPhase {
        phase,
        seconds: None,
        write_bytes: None,
    };
    [
        (true, plain(Phase::Guard)),
        (
            any(makes_files),
            PlannedPhase {
                write_bytes: Some(layout),
                ..plain(Phase::Layout)
            },
        ),
        (any(|job| job.target.drop_caches), plain(Phase::DropCaches)),
        (any(|job| job.target.invalidate), plain(Phase::Invalidate)),
        (any(|job| job.target.pre_read), plain(Phase::PreRead)),
        (
            ramp_ms > 0,
            PlannedPhase {
                seconds: Some(seconds(ramp_ms)),
                ..plain(Phase::Ramp)
            },
        ),
        (
            true,
            PlannedPhase {
                seconds: measure,
                write_bytes: measure_write_bytes(jobs),
                ..plain(Phase::Measure)
            },
        ),
        (
            any(|job| job.target.end_fsync && job.pattern.rw.writes()),
            plain(Phase::Flush),
        ),
        (any(|job| job.target.unlink), plain(Phase::CleanUp)),
    ]
    .into_iter()
    .filter_map(|(planned, phase)| planned.then_some(phase))
    .collect()
}

/// What the run will cost.
pub(crate) fn estimate(jobs: &[ResolvedJob]) -> Estimate {
    let layout_bytes = layout_bytes(jobs);
    let seconds = window_ms(jobs).map(|window_ms| seconds(window_begin_ms(jobs) + window_ms));
    Estimate {
        seconds,
        seconds_note: seconds_note(jobs, layout_bytes, seconds.is_some()),
        layout_bytes,
        measure_write_bytes: measure_write_bytes(jobs),
        buffer_bytes: jobs
            .iter()
            .fold(0, |sum, job| sum.saturating_add(buffer_bytes(job))),
    }
}

/// Jobs whose ramp reaches into the measured window of the run, which begins when the first job's ramp is over: this I/O of
/// theirs is in the counters of the window, and not in what was measured.
pub(crate) fn late_ramps(jobs: &[ResolvedJob]) -> impl Iterator<Item = &ResolvedJob> {
    let begin_ms = window_begin_ms(jobs);
    jobs.iter().filter(move |job| {
        job.mode != Mode::Null && job.timing.ramp_ms > 0 && measured_from_ms(job) > begin_ms
    })
}

/// When the measured window of the run begins, in ms since the clones were let go: with the first job that is measured. What lies
/// before is the run's ramp, which is none where a job has neither `startdelay` nor `ramp_time`.
pub(crate) fn window_begin_ms<'a>(jobs: impl IntoIterator<Item = &'a ResolvedJob>) -> u64 {
    jobs.into_iter().map(measured_from_ms).min().unwrap_or(0)
}

/// How long that window will last in ms: until the last job's time is over. `None` when size ends one of them.
pub(crate) fn window_ms(jobs: &[ResolvedJob]) -> Option<u64> {
    let ends = jobs
        .iter()
        .map(|job| Some(measured_from_ms(job) + job.timing.runtime_ms?))
        .collect::<Option<Vec<u64>>>()?;
    Some(ends.into_iter().max()? - window_begin_ms(jobs))
}

/// When a job begins to be measured, in ms since the clones were let go.
pub(crate) fn measured_from_ms(job: &ResolvedJob) -> u64 {
    job.timing.startdelay_ms + job.timing.ramp_ms
}

fn seconds_note(jobs: &[ResolvedJob], layout_bytes: u64, is_bounded: bool) -> Option<String> {
    let mut parts = Vec::new();
    if !is_bounded {
        parts.push(
            "It ends when its size is worked through, as fast as the target goes.".to_owned(),
        );
    } else if jobs.iter().any(|job| !job.timing.time_based) {
        parts.push("At most: it ends earlier when its size is worked through.".to_owned());
    }
    if layout_bytes > 0 {
        parts.push(format!(
            "{} are laid out before, as fast as the target takes them.",
            bytes(layout_bytes)
        ));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

fn layout_bytes(jobs: &[ResolvedJob]) -> u64 {
    jobs.iter()
        .flat_map(|job| &job.targets)
        .map(|target| target.layout_bytes)
        .sum()
}

/// The most that all jobs write; `None` when only time bounds one that writes.
fn measure_write_bytes(jobs: &[ResolvedJob]) -> Option<u64> {
    jobs.iter()
        .map(writes_of)
        .try_fold(0u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
}

fn writes_of(job: &ResolvedJob) -> Option<u64> {
    if !job.pattern.rw.writes() {
        return Some(0);
    }
    let by_count = job.timing.number_ios.map(|ios| {
        ios.saturating_mul(job.pattern.bs.write.max)
            .saturating_mul(u64::from(job.numjobs))
    });
    let moved = (0..job.numjobs).fold(0u64, |sum, clone| sum.saturating_add(job.io_size_of(clone)));
    let by_size = (!job.timing.time_based).then_some(moved);
    let most = [by_count, by_size].into_iter().flatten().min()?;
    // Exact in every 100 I/Os (`pattern::deck`), so at most one pack more than the share.
    let share = 100 - u128::from(job.pattern.rwmixread.unwrap_or(0));
    Some((u128::from(most) * share).div_ceil(100) as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::fixture::resolved;

    #[test]
    fn the_window_begins_with_the_first_job_and_ends_with_the_last() {
        for (times, ramp, measure) in [
            // startdelay, ramp_time and runtime of each job.
            (vec![(0, 0, Some(30_000))], None, Some(30.0)),
            (vec![(0, 5000, Some(30_000))], Some(5.0), Some(30.0)),
            (vec![(2000, 0, Some(30_000))], Some(2.0), Some(30.0)),
            (vec![(2000, 5000, None)], Some(7.0), None),
            (
                vec![(0, 5000, Some(30_000)), (0, 0, Some(30_000))],
                None,
                Some(35.0),
            ),
            (
                vec![(0, 5000, Some(30_000)), (1000, 10_000, Some(10_000))],
                Some(5.0),
                Some(30.0),
            ),
            (
                vec![(0, 5000, Some(10_000)), (10_000, 5000, Some(10_000))],
                Some(5.0),
                Some(20.0),
            ),
        ] {
            let job = |(delay, ramp, runtime): &(u64, u64, Option<u64>)| {
                resolved(json!({"startdelay_ms": delay, "ramp_ms": ramp, "runtime_ms": runtime}))
            };
            let jobs: Vec<ResolvedJob> = times.iter().map(job).collect();
            let seconds = |phase| {
                phases(&jobs)
                    .into_iter()
                    .find(|planned| planned.phase == phase)
                    .map(|planned| planned.seconds)
            };
            assert_eq!(
                (seconds(Phase::Ramp), seconds(Phase::Measure)),
                (ramp.map(Some), Some(measure)),
                "{times:?}"
            );
            assert_eq!(
                estimate(&jobs).seconds,
                measure.map(|measure| ramp.unwrap_or(0.0) + measure),
                "{times:?}"
            );
        }
    }
}
