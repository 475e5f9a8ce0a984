//! A worker's input and result.

use crate::{
    load::{
        layer_sampler::write_samples::WriteSample,
        measure::{errors::ErrorCount, exit::LoopExit, unfinished::UnfinishedIo},
        slot_priorities::SlotPriorities,
        source::flow::FlowGroup,
        verify::written_blocks::WrittenBlocks,
        worker::{progress::Progress, schedule::Schedule, start_barrier::StartBarrier},
    },
    system::{layers::StoredFile, probes::rusage::CpuTimes},
};
use leadline_protocol::{plan::job::ResolvedJob, report::Decision};
use std::{io, os::fd::OwnedFd, sync::Arc};

pub(crate) struct WorkerTask {
    pub job: Arc<ResolvedJob>,
    /// Index of the worker in its job.
    pub number: u32,
    /// Index of the worker in the run.
    pub index: usize,
    /// Files in the order of the worker's targets.
    pub files: Vec<OwnedFd>,
    /// Storage layers of the targets, in the same order; empty if I/Os are not sampled.
    pub layers: Vec<Arc<StoredFile>>,
    /// `None` if `flow` is not set.
    pub flow: Option<(Arc<FlowGroup>, usize)>,
    /// `None` if all I/Os have the thread's priority.
    pub priorities: Option<Arc<SlotPriorities>>,
    pub progress: Arc<Progress>,
    pub schedule: Arc<Schedule>,
    pub barrier: StartBarrier,
}

/// A worker's result, excluding its statistics. Times are CLOCK_MONOTONIC times in ns.
#[derive(Debug)]
pub(crate) struct WorkerOutcome {
    /// Time of the first I/O.
    pub begin_ns: u64,
    /// Start of the measurement window.
    pub measure_ns: u64,
    /// End of the measurement window.
    pub end_ns: u64,
    pub exit: LoopExit,
    /// CPU time in the measurement window; `None` if the worker is blocked in a system call.
    pub cpu: Option<CpuTimes>,
    /// I/Os in flight at `end_ns`.
    pub unfinished: Vec<UnfinishedIo>,
    pub decisions: Vec<Decision>,
    /// The last write to every block, if the job uses `verify`.
    pub written: Option<WrittenBlocks>,
    /// Failed I/Os after which the worker continued.
    pub errors: Vec<ErrorCount>,
    /// Writes whose storage layers are looked up after the measurement.
    pub write_samples: Vec<WriteSample>,
}

/// An error that prevents a worker from starting or continuing.
#[derive(Debug)]
pub(crate) struct WorkerError {
    /// The failed action, such as `setting nice`.
    pub action: &'static str,
    pub error: io::Error,
}

impl WorkerError {
    /// Returns a function for `map_err`.
    pub(crate) fn during<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self + Copy {
        move |error| Self {
            action,
            error: error.into(),
        }
    }
}
