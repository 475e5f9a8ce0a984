//! Results of a finished worker.

use crate::{
    load::{
        pattern::io::Kind,
        stats::WorkerStats,
        worker::{
            progress::Progress,
            task::{WorkerError, WorkerOutcome},
        },
    },
    run::worker_pool::FinishedWorker,
    system::layers::StoredFile,
};
use std::{ops::Range, sync::Arc};

pub(super) struct MeasuredWorker {
    /// Index of its job.
    pub(super) job: usize,
    pub(super) progress: Arc<Progress>,
    pub(super) outcome: WorkerOutcome,
    /// Storage layers of the worker's targets; empty if unknown.
    pub(super) layers: Vec<Arc<StoredFile>>,
    /// Periods without completions (CLOCK_MONOTONIC, in ns).
    pub(super) silences: Vec<Range<u64>>,
}

impl MeasuredWorker {
    pub(super) fn new(finished: FinishedWorker) -> Result<Self, WorkerError> {
        Ok(Self {
            job: finished.job,
            progress: finished.progress,
            layers: finished.layers,
            outcome: finished.result?,
            silences: finished.silences,
        })
    }

    pub(super) fn stats(&self) -> &WorkerStats {
        &self.progress.measure
    }

    pub(super) fn measured_ns(&self) -> u64 {
        self.outcome.end_ns - self.outcome.measure_ns
    }

    /// Number of I/Os that count toward `number_ios`, including the ramp but excluding syncs.
    pub(super) fn ios_toward_limit(&self) -> u64 {
        let mut ios = 0;
        for stats in [&self.progress.ramp, self.stats()] {
            for kind in [Kind::Read, Kind::Write, Kind::Trim] {
                ios += stats.of(kind).ios.get();
            }
        }
        ios
    }
}
