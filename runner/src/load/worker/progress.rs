//! State that a worker shares with the observing thread.

use crate::load::stats::WorkerStats;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub(crate) enum Stage {
    /// Preparing, or waiting for the start.
    Waiting = 0,
    Ramp = 1,
    Measure = 2,
    Done = 3,
}

#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub ramp: WorkerStats,
    pub measure: WorkerStats,
    stage: AtomicU8,
    has_failed: AtomicBool,
    /// Number of I/Os in flight that `latency_target` currently allows.
    depth: AtomicU32,
    has_attained_depth: AtomicBool,
}

impl Progress {
    /// `has_attained`: whether the search for the depth has ended.
    pub(crate) fn set_depth(&self, depth: u32, has_attained: bool) {
        self.depth.store(depth, Ordering::Relaxed);
        self.has_attained_depth
            .store(has_attained, Ordering::Relaxed);
    }

    /// The depth, and whether the search for it has ended.
    pub(crate) fn depth(&self) -> (u32, bool) {
        let depth = self.depth.load(Ordering::Relaxed);
        (depth, self.has_attained_depth.load(Ordering::Relaxed))
    }

    pub(crate) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Waiting,
            1 => Stage::Ramp,
            2 => Stage::Measure,
            _ => Stage::Done,
        }
    }

    pub(crate) fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }

    /// Returns true if the worker could not start or continue, so the run can stop.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    pub(crate) fn set_failed(&self, has_failed: bool) {
        self.has_failed.store(has_failed, Ordering::Release);
    }
}
