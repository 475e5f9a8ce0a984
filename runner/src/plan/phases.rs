//! Planned phases of a run.

use crate::plan::estimate::{layout_bytes, measure_write_bytes};
use leadline_protocol::{
    phase::Phase,
    plan::{
        PlannedPhase,
        job::ResolvedJob,
        target::TargetKind,
        window::{window_begin_ms, window_ms},
    },
};

/// The phases in execution order; none if the jobs are rejected.
pub(crate) fn plan_phases(jobs: &[ResolvedJob], idle_wait_seconds: u32) -> Vec<PlannedPhase> {
    if jobs.is_empty() {
        return Vec::new();
    }
    let ramp_ms = window_begin_ms(jobs);
    let mut phases = Vec::new();
    let mut add = |is_planned: bool, phase, ms: Option<u64>, write_bytes| {
        if is_planned {
            phases.push(PlannedPhase {
                phase,
                seconds: ms.map(|ms| ms as f64 / 1000.0),
                write_bytes,
            });
        }
    };
    let any = |f: fn(&ResolvedJob) -> bool| jobs.iter().any(f);
    add(
        any(has_layout),
        Phase::Layout,
        None,
        Some(layout_bytes(jobs)),
    );
    add(true, Phase::Guard, None, None);
    add(
        has_storage(jobs) && idle_wait_seconds > 0,
        Phase::IdleWait,
        None,
        None,
    );
    add(
        any(|job| job.target.drop_caches),
        Phase::DropCaches,
        None,
        None,
    );
    add(
        any(|job| job.target.invalidate),
        Phase::Invalidate,
        None,
        None,
    );
    add(any(|job| job.target.pre_read), Phase::PreRead, None, None);
    add(ramp_ms > 0, Phase::Ramp, Some(ramp_ms), None);
    add(
        true,
        Phase::Measure,
        window_ms(jobs),
        measure_write_bytes(jobs),
    );
    add(any(has_flush), Phase::Flush, None, None);
    add(any(has_verify), Phase::Verify, None, None);
    add(any(|job| job.target.unlink), Phase::CleanUp, None, None);
    phases
}

/// Returns true if there is storage to wait for.
pub(crate) fn has_storage(jobs: &[ResolvedJob]) -> bool {
    let mut targets = jobs.iter().flat_map(|job| &job.targets);
    targets.any(|target| target.kind != TargetKind::Null)
}

/// Returns true if layout creates or writes files.
pub(crate) fn has_layout(job: &ResolvedJob) -> bool {
    job.targets.iter().any(|target| {
        matches!(target.kind, TargetKind::File | TargetKind::Loop)
            && (!target.existed || target.layout_offset.is_some())
    })
}

/// Returns true if the files are flushed after the measurement. As in fio, jobs without writes
/// ignore `end_fsync`.
pub(crate) fn has_flush(job: &ResolvedJob) -> bool {
    job.target.end_fsync && job.pattern.rw.writes() && !job.ring.ioengine.is_null()
}

/// Returns true if written blocks are read back after the measurement.
pub(crate) fn has_verify(job: &ResolvedJob) -> bool {
    job.data.verify.is_some_and(|verify| verify.reads_back)
}
