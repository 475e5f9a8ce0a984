//! Limits how many bytes the runs of a curve write.

use crate::procedure_run::ProcedureRun;
use leadline_protocol::{plan::job::ResolvedJob, study::load_curve::LoadCurve};

/// Whether a run at this rate, together with the earlier runs, could exceed the write limit of the
/// curve. The first run is always allowed, because it shows the block size.
pub(super) fn exceeds(curve: &LoadCurve, rate: f64, runs: &[Option<ProcedureRun>]) -> bool {
    let Some(max_bytes) = curve.max_bytes else {
        return false;
    };
    let jobs = runs.iter().flatten();
    let block = jobs.filter_map(|run| largest_block(run.run.resolved.first()?));
    let Some(block) = block.max() else {
        return false;
    };
    let written: f64 = runs.iter().flatten().map(written_bytes).sum();
    let seconds = f64::from(curve.seconds_at(rate) + curve.ramp_seconds);
    written + rate * seconds * block as f64 > max_bytes as f64
}

/// `None` for a job that does not write.
fn largest_block(job: &ResolvedJob) -> Option<u64> {
    let pattern = &job.pattern;
    pattern.rw.writes().then_some(pattern.bs.write.max)
}

/// Bytes that a run wrote. The report does not count the ramp, so it is estimated at the rate of
/// the measured window.
fn written_bytes(run: &ProcedureRun) -> f64 {
    let Some(report) = run.run.report else {
        return 0.0;
    };
    let ramp_ms = run.run.resolved.first().map_or(0, |job| job.timing.ramp_ms);
    let ramp = ramp_ms as f64 / report.duration_ms.max(1.0);
    report.write.bytes as f64 * (1.0 + ramp)
}
