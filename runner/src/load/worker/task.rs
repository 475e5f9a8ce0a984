//! Input and result of a worker.

use crate::load::measure::exit::LoopExit;
use crate::load::worker::progress::Progress;
use crate::load::worker::schedule::Schedule;
use crate::load::worker::start_barrier::StartBarrier;
use crate::system::probes::rusage::CpuTimes;
use leadline_protocol::plan::job::ResolvedJob;
use leadline_protocol::report::Decision;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub(crate) struct WorkerTask {
    pub(crate) job: Arc<ResolvedJob>,
    /// Index of the worker in its job.
    pub(crate) number: u32,
    /// In the order of the worker's targets.
    pub(crate) files: Vec<OwnedFd>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) barrier: StartBarrier,
}

/// Result of a worker without its statistics. Times are in ns of the monotonic clock.
#[derive(Debug)]
pub(crate) struct WorkerOutcome {
    /// First I/O.
    pub(crate) begin_ns: u64,
    /// Start of the measured window.
    pub(crate) measure_ns: u64,
    /// End of the measured window.
    pub(crate) end_ns: u64,
    pub(crate) exit: LoopExit,
    /// CPU time in the measured window.
    pub(crate) cpu: CpuTimes,
    pub(crate) decisions: Vec<Decision>,
}

/// Why a worker could not start or continue.
#[derive(Debug)]
pub(crate) struct WorkerError {
    /// Such as `setting nice`.
    pub(crate) action: &'static str,
    pub(crate) error: io::Error,
}

impl WorkerError {
    /// For `map_err`.
    pub(crate) fn during<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self + Copy {
        move |error| Self {
            action,
            error: error.into(),
        }
    }
}
