//! Stops the service.

use crate::{
    runs::{Runs, state::ServerPhase},
    scheduler::outcome::StopRequest,
};
use std::time::Duration;

/// Timeout for active runs. The rest of the five-second shutdown is reserved for open connections.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);

impl Runs {
    /// Stops active runs, which keep their results so far, then closes all streams.
    pub(crate) async fn stop(&self) {
        self.phase.send_replace(ServerPhase::Stopping);
        let mut released = self.released.subscribe();
        {
            let scheduler = self.scheduler();
            for run in scheduler.queue.running() {
                if let Some(buffer) = scheduler.active_runs.get(&run) {
                    buffer.request_stop(StopRequest::Shutdown);
                }
            }
        }
        let all_ended = async { while self.counts().0 > 0 && released.changed().await.is_ok() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all_ended).await.is_err() {
            tracing::warn!(
                "a run did not stop in time; it will be marked as interrupted at the next start"
            );
        }
        self.phase.send_replace(ServerPhase::Closed);
    }
}
