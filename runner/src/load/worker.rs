//! A worker: one thread of a job. It prepares buffers and the engine, starts together with the
//! other workers, and runs the measuring loop for the ramp and the measurement.

pub(crate) mod affinity;
pub(crate) mod decisions;
#[cfg(test)]
pub(crate) mod engine_overhead;
pub(crate) mod engine_setup;
#[cfg(test)]
pub(crate) mod instructions;
pub(crate) mod phases;
pub(crate) mod progress;
pub(crate) mod schedule;
pub(crate) mod start_barrier;
pub(crate) mod task;

use crate::load::worker::task::{WorkerError, WorkerOutcome, WorkerTask};

/// Runs a worker to completion. Must be called on the worker's own thread.
///
/// # Errors
/// Returns system errors other than I/O errors. A failed I/O is a `LoopExit`.
pub(crate) fn run(task: &WorkerTask) -> Result<WorkerOutcome, WorkerError> {
    affinity::apply(&task.job, task.index)?;
    let outcome = engine_setup::run(task)?;
    task.barrier.finish();
    Ok(outcome)
}
