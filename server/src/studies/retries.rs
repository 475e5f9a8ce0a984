//! A broken run of a repeated study gets one further run, which takes its place.

use crate::runs::{Runs, detached};

impl Runs {
    /// Queues a further run if the last run of a study is broken. Must be called before the study's
    /// lock is released, so that the further run is the next one.
    pub(crate) async fn repeat_broken_run(&self, study: u64) {
        if let Err(error) = self.repeat_broken_runs().await {
            tracing::error!(study, "cannot repeat a broken run: {error:#}");
        }
    }

    /// Queues a further run for each broken run.
    pub(crate) async fn repeat_broken_runs(&self) -> anyhow::Result<()> {
        for broken in self.store.broken_runs().await? {
            let runs = self.clone();
            // Detached, because a run that has been stored must be queued.
            let queued = detached(async move { Ok(runs.queue_retry(broken).await?) });
            queued.await.map_err(|error| anyhow::anyhow!("{error}"))?;
        }
        Ok(())
    }

    async fn queue_retry(&self, broken: u64) -> anyhow::Result<()> {
        let admission = self.admission.lock().await;
        let now_ms = crate::clock::now_ms();
        let Some(retry) = self.store.insert_retry(broken, now_ms).await? else {
            return Ok(());
        };
        self.enqueue_at(retry.number, retry.retry_of, retry.locks);
        drop(admission);
        tracing::info!(run = retry.number, broken, "repeating a broken run");
        self.publish_run(retry.number).await;
        self.publish_queue();
        Ok(())
    }
}
