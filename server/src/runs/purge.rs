//! Removes the events of deleted runs while no run is active.

use crate::runs::{Runs, state::ServerPhase};
use std::time::Duration;

/// Between two steps, so that requests that write are not delayed.
const PAUSE: Duration = Duration::from_millis(10);
/// After an error, for example on a full disk.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

impl Runs {
    /// Runs until the server stops. Continues where the previous server stopped.
    pub(crate) async fn purge_deleted_runs(self) {
        while self.wait_until_idle().await {
            match self.store.purge_step().await {
                Ok(true) => tokio::time::sleep(PAUSE).await,
                Ok(false) => self.deleted.notified().await,
                Err(error) => {
                    tracing::error!("cannot remove the events of deleted runs: {error:#}");
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
            }
        }
    }

    /// Waits until no run is active. Returns false if the server is stopping.
    async fn wait_until_idle(&self) -> bool {
        let mut released = self.released.subscribe();
        while self.counts().0 > 0 {
            // The sender lives in `self`.
            let _ = released.changed().await;
        }
        *self.phase.borrow() == ServerPhase::Open
    }
}
