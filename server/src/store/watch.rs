//! Watches the database for faults that have cleared, and for a deleted or replaced file.

use crate::{
    clock,
    store::{Store, backup, fault::StoreFault},
};
use anyhow::Result;
use std::{path::PathBuf, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// Interval between checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between attempts to copy a deleted database. An attempt can fail if the disk is full.
const RESCUE_INTERVAL: Duration = Duration::from_secs(30);

impl Store {
    /// Changes when the database stops or resumes accepting writes.
    pub(crate) fn faults(&self) -> watch::Receiver<Option<StoreFault>> {
        self.health.subscribe()
    }

    /// # Errors
    /// The last write failed, or the file was replaced.
    pub(crate) fn check_health(&self) -> Result<(), StoreFault> {
        self.health.file.check()?;
        self.health.fault().map_or(Ok(()), Err)
    }

    /// Like `check_health`, but also begins a transaction, because an idle server would not detect
    /// a lock or a read-only filesystem.
    ///
    /// # Errors
    /// The reason why writes are not possible.
    pub(crate) async fn check_writable(&self) -> Result<()> {
        self.check_health()?;
        self.begin().await?.commit().await
    }

    /// Checks the file and, after a fault, whether the database accepts writes again. Runs until
    /// the server exits.
    pub(crate) async fn watch(self) {
        let mut rescue_at = Some(Instant::now());
        loop {
            sleep(CHECK_INTERVAL).await;
            let checked = self.health.file.check();
            let has_fault = self.health.fault().is_some();
            if self
                .health
                .record_fault(checked.map_err(Into::into))
                .is_ok()
                && has_fault
            {
                // `record_fault` records the outcome.
                let _ = self.health.record_fault(self.probe().await);
            }
            if rescue_at.is_some_and(|at| at <= Instant::now()) && self.health.file.is_deleted() {
                let is_rescued = self.rescue().await;
                rescue_at = (!is_rescued).then(|| Instant::now() + RESCUE_INTERVAL);
            }
        }
    }

    /// Copies the open database. If its file was deleted, the data would be lost when the server
    /// exits.
    async fn rescue(&self) -> bool {
        let copied = self.copy_open_file().await;
        match &copied {
            Ok(copy) => tracing::warn!(
                "copied the open database to {0}. To continue with it, stop the server, remove leadline.db, leadline.db-wal and leadline.db-shm, and rename {0} to leadline.db",
                copy.display()
            ),
            Err(error) => tracing::error!("cannot copy the open database: {error:#}"),
        }
        copied.is_ok()
    }

    async fn copy_open_file(&self) -> Result<PathBuf> {
        let copy = self.health.file.rescue_path(clock::now_ms());
        let partial = copy.with_extension("partial");
        // An earlier attempt may have left this file.
        let _ = std::fs::remove_file(&partial);
        backup::copy_into(&mut *self.readers.acquire().await?, &partial).await?;
        std::fs::rename(&partial, &copy)?;
        Ok(copy)
    }

    /// Writes one page to test whether the database accepts writes.
    async fn probe(&self) -> Result<()> {
        let mut transaction = self.begin_unsynced().await?;
        sqlx::query("UPDATE database SET id = id")
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await
    }
}
