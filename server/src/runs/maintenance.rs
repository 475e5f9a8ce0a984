//! Store maintenance. While no run is active, it computes the metrics of runs without a report,
//! updates the fingerprints of stored runs, removes the events of deleted runs and compresses the
//! samples of long runs. While runs are active, it only compresses their older samples.

use crate::{
    query::partial_metrics,
    runs::{Runs, state::ServerPhase},
};
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// Minimum pause between two steps. Write requests are handled during the pauses.
const MIN_PAUSE: Duration = Duration::from_millis(10);
/// Pause after an error, such as a full disk.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// How often active runs are compressed: once per 50 samples at the default sampling interval.
const ACTIVE_INTERVAL: Duration = Duration::from_secs(5);

impl Runs {
    /// Runs until the server stops.
    pub(crate) async fn compress_active_runs(self) {
        while *self.phase.borrow() == ServerPhase::Open {
            let began = Instant::now();
            match self.compress_active_step().await {
                Ok(true) => sleep(began.elapsed().max(MIN_PAUSE)).await,
                Ok(false) => sleep(ACTIVE_INTERVAL).await,
                Err(error) => {
                    tracing::error!("cannot compress samples: {error:#}");
                    sleep(RETRY_INTERVAL).await;
                }
            }
        }
    }

    /// Returns false if there was nothing to do.
    async fn compress_active_step(&self) -> anyhow::Result<bool> {
        Ok(self.counts().0 > 0 && self.store.active_compaction_step().await?)
    }

    /// Runs until the server stops. Continues where the previous server process stopped.
    pub(crate) async fn maintain_store(self) {
        let mut released = self.released.subscribe();
        while self.wait_until_idle(&mut released).await {
            let began = Instant::now();
            match self.maintenance_step().await {
                // Leave CPU time for requests from open pages.
                Ok(true) => sleep(began.elapsed().max(MIN_PAUSE)).await,
                Ok(false) => tokio::select! {
                    () = self.deleted.notified() => {}
                    // `self` owns the sender, so this wait cannot fail.
                    _ = released.changed() => {}
                },
                Err(error) => {
                    tracing::error!("cannot maintain the database: {error:#}");
                    sleep(RETRY_INTERVAL).await;
                }
            }
        }
    }

    /// Returns false if there was nothing to do.
    async fn maintenance_step(&self) -> anyhow::Result<bool> {
        let store = &self.store;
        Ok(self.partial_metrics_step().await?
            || store.fingerprint_step().await?
            || store.purge_step().await?
            || store.compaction_step().await?)
    }

    /// Computes the metrics of a run that ended without a report.
    async fn partial_metrics_step(&self) -> anyhow::Result<bool> {
        let Some((run, sample_ms)) = self.store.run_without_metrics().await? else {
            return Ok(false);
        };
        let metrics = partial_metrics::metrics_from_samples(&self.store, run, sample_ms).await?;
        self.store.store_partial_metrics(run, &metrics).await?;
        self.publish_run(run).await;
        Ok(true)
    }

    /// Waits until no run is active. Returns false if the server is stopping.
    async fn wait_until_idle(&self, released: &mut watch::Receiver<()>) -> bool {
        released.mark_unchanged();
        while self.counts().0 > 0 {
            // `self` owns the sender, so this wait cannot fail.
            let _ = released.changed().await;
        }
        *self.phase.borrow() == ServerPhase::Open
    }
}
