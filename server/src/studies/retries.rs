//! A failed run of a repeated study gets one further run, which takes its place.

use crate::runs::{Runs, detached};

impl Runs {
    /// Queues a further run if the last run of a study is failed. Must be called before the study's
    /// lock is released, so that the further run is the next one.
    pub(crate) async fn repeat_failed_run(&self, study: u64) {
        if let Err(error) = self.repeat_failed_runs().await {
            tracing::error!(study, "cannot repeat a failed run: {error:#}");
        }
    }

    /// Queues a further run for each failed run.
    pub(crate) async fn repeat_failed_runs(&self) -> anyhow::Result<()> {
        for failed in self.store.failed_runs().await? {
            let runs = self.clone();
            // Detached, because a run that has been stored must be queued.
            let queued = detached(async move { Ok(runs.queue_retry(failed).await?) });
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
        tracing::info!(run = retry.number, failed, "repeating a failed run");
        self.publish_run(retry.number).await;
        self.publish_queue();
        Ok(())
    }
}
