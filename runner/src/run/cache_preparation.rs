//! Puts the page cache into the requested state before the measurement: dropped, evicted, filled or
//! advised. Writing dirty pages can take a long time, and a stop does not wait for it.

use crate::{
    load::worker::task::WorkerError,
    run::{
        context::{RunContext, unless_stopped},
        error::RunError,
        open_targets::OpenTargets,
    },
    system::{
        probes::{region::Region, residency::ResidencyMethod},
        target::{
            OpenTarget,
            cache::{advise, drop_caches, evict, invalidate, pre_read},
        },
    },
};
use leadline_protocol::{
    format::bytes,
    job::keyword::CacheState,
    phase::{Phase, PhaseState},
    plan::job::ResolvedJob,
};
use rustix::io::Errno;
use std::{io, ops::Range, os::fd::AsFd};

/// If more bytes than this are still uncached after a read, the region is not read again, because
/// it does not fit in memory.
const REREAD_LIMIT: u64 = 1 << 30;

/// Runs the phases that at least one job requests.
pub(crate) fn prepare(run: &mut RunContext, open: &OpenTargets) -> Result<(), RunError> {
    if run.any_job(|job| job.target.drop_caches) {
        run.run_in_phase(Phase::DropCaches, |run| {
            let dropped = run.cancellable(drop_caches).map_err(failed)?;
            Ok(dropped.ok_or(RunError::Stopped)??)
        })?;
    }
    if run.any_job(|job| job.target.invalidate) {
        run.run_in_phase(Phase::Invalidate, |run| empty_caches(run, open))?;
    }
    if run.any_job(|job| job.target.pre_read) {
        run.run_in_phase(Phase::PreRead, |run| read_targets(run, open))?;
    }
    for worker in &open.workers {
        let hint = run.plan.jobs[worker.job].target.fadvise_hint;
        for opened in &worker.targets {
            advise(opened, hint, range(opened)).map_err(failed)?;
        }
    }
    Ok(())
}

fn is_cold(job: &ResolvedJob) -> bool {
    job.target.cache_state == CacheState::Cold
}

fn empty_caches(run: &mut RunContext, open: &OpenTargets) -> Result<(), RunError> {
    let drop_clean = |opened: &OpenTarget| invalidate(opened, range(opened));
    let mut kept = 0;
    for worker in &open.workers {
        let job = &run.plan.jobs[worker.job];
        if job.target.invalidate && !is_cold(job) {
            for opened in &worker.targets {
                empty(run, opened, drop_clean)?;
            }
        }
    }
    for worker in &open.workers {
        if is_cold(&run.plan.jobs[worker.job]) {
            for opened in &worker.targets {
                empty(run, opened, evict)?;
            }
        }
    }
    for worker in &open.workers {
        if worker.number == 0 && is_cold(&run.plan.jobs[worker.job]) {
            kept += worker.targets.iter().filter_map(cached_bytes).sum::<u64>();
        }
    }
    if kept > 0 {
        let note = format!(
            "{} stayed in the page cache: mapped, locked, or read again by another process",
            bytes(kept)
        );
        run.sink
            .phase_note(Phase::Invalidate, PhaseState::Progress, Some(note));
    }
    Ok(())
}

fn empty(
    run: &RunContext,
    opened: &OpenTarget,
    method: fn(&OpenTarget) -> Result<(), Errno>,
) -> Result<(), RunError> {
    let opened = opened.try_clone().map_err(failed)?;
    let emptied = run.cancellable(move || method(&opened)).map_err(failed)?;
    Ok(emptied.ok_or(RunError::Stopped)?.map_err(failed)?)
}

/// Reads each target up to three times, until all of its pages are cached, because some hosts (such
/// as those with DAMON) evict pages within seconds even if memory is free.
fn read_targets(run: &mut RunContext, open: &OpenTargets) -> Result<(), RunError> {
    const ROUNDS: usize = 3;
    for worker in &open.workers {
        if !run.plan.jobs[worker.job].target.pre_read {
            continue;
        }
        for opened in &worker.targets {
            read_target(run, opened)?;
            for _ in 1..ROUNDS {
                if !(1..=REREAD_LIMIT).contains(&missing_bytes(opened)) {
                    break;
                }
                read_target(run, opened)?;
            }
            note_missing(run, missing_bytes(opened));
        }
    }
    Ok(())
}

fn read_target(run: &mut RunContext, opened: &OpenTarget) -> Result<(), RunError> {
    let sink = &mut *run.sink;
    let mut progress = |change| sink.change(change);
    let read = pre_read(opened, range(opened), &mut progress, run.stop.flag());
    unless_stopped(read.map_err(WorkerError::during(
        "reading the target into the page cache",
    ))?)
}

/// Number of a target's uncached bytes; 0 if unknown. Zero cached bytes also count as unknown: on
/// an overlay, the cached pages belong to a file in a lower layer.
fn missing_bytes(opened: &OpenTarget) -> u64 {
    match cached_bytes(opened) {
        None | Some(0) => 0,
        Some(cached) => opened.target.size.saturating_sub(cached),
    }
}

fn note_missing(run: &mut RunContext, missing: u64) {
    if missing > 0 {
        let note = format!("{} did not stay in the page cache", bytes(missing));
        run.sink
            .phase_note(Phase::PreRead, PhaseState::Progress, Some(note));
    }
}

fn failed(error: impl Into<io::Error>) -> WorkerError {
    WorkerError::during("setting the page cache state")(error)
}

/// Number of the region's bytes in the page cache; `None` if unknown.
pub(crate) fn cached_bytes(opened: &OpenTarget) -> Option<u64> {
    let file = opened.fd.as_fd();
    let region = Region::of([range(opened)]);
    let residency = ResidencyMethod::detect(file).ok()?.residency(file, &region);
    Some(residency.ok()?.cached)
}

/// The target's region.
fn range(opened: &OpenTarget) -> Range<u64> {
    opened.target.offset..opened.target.offset + opened.target.size
}
