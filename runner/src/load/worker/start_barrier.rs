//! Barrier at which a run's workers start together.

use crate::load::worker::progress::{Progress, Stage};
use std::{
    cell::Cell,
    sync::{Arc, Barrier},
};

/// A worker passes the barrier twice: when it is ready, and when the schedule has been set.
/// Dropping the value performs the remaining passes, so a worker that fails or panics does not
/// block the others.
pub(crate) struct StartBarrier {
    progress: Arc<Progress>,
    barrier: Arc<Barrier>,
    passes: Cell<u8>,
    is_finished: Cell<bool>,
}

impl StartBarrier {
    const PASSES: u8 = 2;

    pub(crate) fn new(progress: Arc<Progress>, barrier: Arc<Barrier>) -> Self {
        Self {
            progress,
            barrier,
            passes: Cell::new(0),
            is_finished: Cell::new(false),
        }
    }

    pub(crate) fn pass(&self) {
        self.barrier.wait();
        self.passes.set(self.passes.get() + 1);
    }

    /// Marks the worker as successfully finished.
    pub(crate) fn finish(&self) {
        self.is_finished.set(true);
    }
}

impl Drop for StartBarrier {
    fn drop(&mut self) {
        self.progress.set_failed(!self.is_finished.get());
        self.progress.set_stage(Stage::Done);
        while self.passes.get() < Self::PASSES {
            self.pass();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panicking_worker_does_not_block_the_others() {
        for passes_before in 0..=StartBarrier::PASSES {
            let progress = Arc::new(Progress::default());
            let barrier = Arc::new(Barrier::new(2));
            let start = StartBarrier::new(progress.clone(), barrier.clone());
            let worker = std::thread::spawn(move || {
                (0..passes_before).for_each(|_| start.pass());
                panic!("expected by this test");
            });
            for _ in 0..StartBarrier::PASSES {
                barrier.wait();
            }
            assert!(worker.join().is_err());
            assert_eq!(
                progress.stage(),
                Stage::Done,
                "after {passes_before} passes"
            );
            assert!(progress.has_failed(), "after {passes_before} passes");
        }
    }
}
