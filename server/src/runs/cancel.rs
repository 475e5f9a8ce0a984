//! Cancels runs.

use crate::{
    error::Error,
    events::journal::COMPLETE,
    runs::{Runs, run_detached},
    scheduler::outcome::StopRequest,
};
use leadline_protocol::{run::RunSummary, status::RunStatus};

impl Runs {
    /// Cancels a queued or running run.
    pub(crate) async fn cancel(&self, number: u64) -> Result<RunSummary, Error> {
        let runs = self.clone();
        // Runs in its own task, so a run cannot leave the queue unless its status change is stored.
        run_detached(async move { runs.cancel_run(number).await }).await
    }

    async fn cancel_run(&self, number: u64) -> Result<RunSummary, Error> {
        // Stop the runner first: the store may be slow.
        let stopped = self.stop_running(number);
        let study = self.study_of(number).await;
        if !stopped && !self.cancel_or_stop(number).await? {
            let run = self.summary(number).await?;
            return Err(Error::Conflict {
                code: "already_ended",
                detail: format!("Run #{number} is already {}.", run.status.as_str()),
            });
        }
        if let Some(study) = study {
            self.cancel_remaining_steps(study).await;
            self.publish_study(study).await;
            self.clean_up_study(study).await;
        }
        self.summary(number).await
    }

    /// Cancels a queued run, or requests that a running one stop. Returns false if the run has
    /// ended.
    pub(crate) async fn cancel_or_stop(&self, number: u64) -> anyhow::Result<bool> {
        let cancelled = self
            .cancel_queued(number, "Cancelled while queued.")
            .await?;
        Ok(cancelled || self.stop_running(number))
    }

    /// Requests that a running run stop. Returns false if it is not running.
    fn stop_running(&self, number: u64) -> bool {
        let scheduler = self.scheduler();
        let Some(buffer) = scheduler.active_runs.get(&number) else {
            return false;
        };
        let is_running = scheduler.queue.running().any(|running| running == number);
        if is_running {
            buffer.request_stop(StopRequest::Cancel);
        }
        is_running
    }

    /// Cancels a queued run. Returns false if the run is not queued. Does not publish the study,
    /// because cancelling a study would then read the study once per run.
    pub(crate) async fn cancel_queued(&self, number: u64, reason: &str) -> anyhow::Result<bool> {
        let Some((buffer, (queue_order, locks))) = ({
            let mut scheduler = self.scheduler();
            let buffer = scheduler.active_runs.get(&number).cloned();
            let queue_order = scheduler.queue.queue_order(number);
            buffer.zip(queue_order.zip(scheduler.queue.remove(number)))
        }) else {
            return Ok(false);
        };
        let stored = self.set_status(
            number,
            RunStatus::Queued,
            RunStatus::Cancelled,
            reason,
            buffer,
            COMPLETE,
        );
        if let Err(error) = stored.await {
            self.scheduler().queue.push_at(number, queue_order, locks);
            return Err(error);
        }
        self.close_subscribers(number);
        self.publish_summary(number).await;
        self.release(number);
        Ok(true)
    }
}
