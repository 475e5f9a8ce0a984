//! Detects changes in the state of trends.

use crate::{
    clock::now_ms, error::Error, runs::Runs, store::baselines::SeriesKey,
    webhooks::messages::trend_changed,
};
use leadline_protocol::trend::TrendSeries;
use std::time::Duration;
use tokio::{
    sync::broadcast::error::RecvError,
    time::{sleep, timeout},
};

/// Delay before a comparison, so multiple changes in quick succession cause only one comparison.
const DELAY: Duration = Duration::from_secs(1);
/// Also needed because some changes are not published, such as new fingerprints of stored runs.
const INTERVAL: Duration = Duration::from_secs(15);

impl Runs {
    /// Stores the states of all series with a baseline, and messages about changes, until the
    /// server exits.
    pub(crate) async fn watch_trends(self) {
        let mut changes = self.changes.subscribe();
        loop {
            if let Err(error) = self.store_trend_states().await {
                tracing::warn!("cannot store the states of trends: {error}");
            }
            let change = timeout(INTERVAL, changes.recv()).await;
            if matches!(change, Ok(Err(RecvError::Closed))) {
                return;
            }
            sleep(DELAY).await;
            changes = changes.resubscribe();
        }
    }

    async fn store_trend_states(&self) -> Result<(), Error> {
        for series in self.pinned_trends().await? {
            self.store_trend_state(&series).await?;
        }
        Ok(())
    }

    /// A change is reported only relative to an earlier state with the same baseline.
    pub(crate) async fn store_trend_state(&self, series: &TrendSeries) -> Result<(), Error> {
        let (Some(baseline), Some(state)) = (&series.baseline, &series.state) else {
            return Ok(());
        };
        let key = SeriesKey {
            job_fingerprint: series.job_fingerprint.clone(),
            machine_fingerprint: series.machine_fingerprint.clone(),
        };
        let message = |before| trend_changed(series, before, state.state, now_ms());
        let pinned_at_ms = baseline.pinned_at_ms;
        let stored = self
            .store
            .set_trend_state(&key, pinned_at_ms, state.state, message);
        Ok(stored.await?)
    }
}
