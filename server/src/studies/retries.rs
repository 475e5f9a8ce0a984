//! Retries a failed run of a repeated study once, at the same queue position.

use crate::runs::{Runs, run_detached};

impl Runs {
    /// Queues a retry if the last run of a study failed. Must be called before the study's lock is
    /// released, so the retry runs next.
    pub(crate) async fn retry_failed_run(&self, study: u64) {
        if let Err(error) = self.retry_failed_runs().await {
            tracing::error!(study, "cannot retry a failed run: {error:#}");
        }
    }

    /// Queues the missing retries of all failed runs.
    pub(crate) async fn retry_failed_runs(&self) -> anyhow::Result<()> {
        for failed in self.store.failed_runs().await? {
            let runs = self.clone();
            // Runs in its own task, because a run that has been stored must be queued.
            let queued = run_detached(async move { Ok(runs.queue_retry(failed).await?) });
            queued.await.map_err(|error| anyhow::anyhow!("{error}"))?;
        }
        Ok(())
    }

    async fn queue_retry(&self, failed: u64) -> anyhow::Result<()> {
        let admission = self.admission.lock().await;
        let now_ms = crate::clock::now_ms();
        let Some(retry) = self.store.insert_retry(failed, now_ms).await? else {
            return Ok(());
        };
        self.enqueue_at(retry.number, retry.retry_of, retry.locks);
        drop(admission);
        tracing::info!(run = retry.number, failed, "retrying a failed run");
        self.publish_run(retry.number).await;
        self.publish_queue();
        Ok(())
    }
}
