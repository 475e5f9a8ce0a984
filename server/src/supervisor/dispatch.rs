//! Starts queued runs.

use crate::{
    runs::{Runs, state::ServerPhase},
    supervisor::supervise::supervise,
};

impl Runs {
    /// Starts all runs that can start.
    pub(crate) fn start_ready(&self) {
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

    /// Lets other runs start although the runner of an ended run has not exited.
    pub(crate) fn hang(&self, number: u64) {
        self.scheduler().queue.hang(number);
        self.released.send_replace(());
        self.start_ready();
        self.publish_queue();
    }

    /// Releases the locks of a run.
    pub(crate) fn release(&self, number: u64) {
        self.scheduler().queue.finish(number);
        self.released.send_replace(());
        self.start_ready();
        self.publish_queue();
    }
}
