//! Starts queued runs.

use crate::{
    runs::{Runs, state::ServerPhase},
    supervisor::supervise::supervise,
};

impl Runs {
    /// Starts all runs that can start.
    pub(crate) fn start_ready_runs(&self) {
        loop {
            let mut scheduler = self.scheduler();
            if scheduler.paused || *self.phase.borrow() != ServerPhase::Open {
                return;
            }
            let Some(number) = scheduler.queue.start_next() else {
                return;
            };
            if let Some(buffer) = scheduler.active_runs.get(&number).cloned() {
                tokio::spawn(supervise(self.clone(), number, buffer));
            }
        }
    }

    /// Lets other runs start even though an ended run's runner has not exited.
    pub(crate) fn hang(&self, number: u64) {
        self.scheduler().queue.hang(number);
        self.released.send_replace(());
        self.start_ready_runs();
        self.publish_queue();
    }

    /// Releases a run's locks.
    pub(crate) fn release(&self, number: u64) {
        self.scheduler().queue.finish(number);
        self.released.send_replace(());
        self.start_ready_runs();
        self.publish_queue();
    }
}
