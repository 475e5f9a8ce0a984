//! Recovers runs when the server starts. Queued runs are queued again in order, except runs that
//! overwrite data. Runs that had left the queue become `interrupted` and keep their samples.

use crate::{
    events::{
        buffer::EventBuffer,
        journal::{COMPLETE, SHORTENED},
    },
    runs::Runs,
};
use leadline_protocol::status::RunStatus;
use std::sync::Arc;

const INTERRUPTED: &str =
    "The server stopped while the run was active. Results up to that point are stored.";

const NOT_STARTED: &str = "The server stopped before the run started. The run overwrites data and must be confirmed again.";

impl Runs {
    /// Returns the number of interrupted runs.
    pub(crate) async fn recover(&self) -> anyhow::Result<usize> {
        // No run may start yet, although cancelling the steps of an ended study releases locks.
        self.scheduler().paused = true;
        let mut interrupted = 0;
        for run in self.store.unfinished_runs().await? {
            let (seq, _) = self.store.last_event(run.number).await?;
            let buffer = Arc::new(EventBuffer::new(seq + 1));
            if run.status == RunStatus::Queued && !run.is_confirmed {
                let mut scheduler = self.scheduler();
                scheduler.active_runs.insert(run.number, buffer);
                scheduler
                    .queue
                    .push_at(run.number, run.queue_order, run.locks);
            } else {
                let to = RunStatus::Interrupted;
                let (reason, epoch) = match run.status {
                    RunStatus::Queued => (NOT_STARTED, COMPLETE),
                    _ => (INTERRUPTED, SHORTENED),
                };
                self.set_status(run.number, run.status, to, reason, buffer, epoch)
                    .await?;
                let status = run.status.as_str();
                tracing::warn!(run = run.number, status, "run interrupted");
                interrupted += 1;
            }
        }
        self.retry_failed_runs().await?;
        self.take_overdue_looks().await?;
        for study in self.store.studies_with_queued_runs().await? {
            self.try_cancel_remaining_steps(study).await?;
        }
        self.continue_studies().await?;
        tokio::spawn(self.clone().resume());
        Ok(interrupted)
    }

    /// Starts queued runs once the previous server's runners have exited and leftover files are
    /// removed.
    async fn resume(self) {
        if let Err(error) = self.runner.wait_for_previous().await {
            tracing::error!(%error, "cannot wait for the previous server's runners to exit");
        }
        self.clean_up_studies().await;
        self.scheduler().paused = false;
        self.start_ready_runs();
        tokio::spawn(self.clone().compress_active_runs());
        self.maintain_store().await;
    }
}
