//! Removes the temporary files of ended studies. Usually, the last step of a study removes its
//! files. If that step was cancelled or killed, the server removes them, even after a restart,
//! because their paths are stored when the study is created.
//!
//! The runner determines which files belong to a study, and its guard checks whether they may be
//! removed.

use crate::runs::Runs;
use leadline_protocol::study::files::OwnedFiles;

/// Maximum number of studies to check at startup. Older ones were handled at previous startups.
const MAX_STUDIES_AT_START: u32 = 100;

impl Runs {
    /// Removes a study's files if it has ended.
    pub(crate) async fn try_clean_up_study(&self, study: u64) -> anyhow::Result<()> {
        let Some((file_id, files)) = self.store.leftover_files(study).await? else {
            return Ok(());
        };
        if files.is_empty() || self.store.has_unfinished_runs(study).await? {
            return Ok(());
        }
        let owned = OwnedFiles {
            file_id,
            files: files.into_iter().map(|file| file.path).collect(),
        };
        let result = self.runner.remove_leftovers(&owned).await?;
        tracing::info!(
            study,
            removed = result.removed.len(),
            left = result.left.len(),
            "removed the temporary files of a study"
        );
        self.store.set_owned_files(study, &result.left).await?;
        self.publish_study(study).await;
        Ok(())
    }

    /// Like `try_clean_up_study`, but logs errors.
    pub(crate) async fn clean_up_study(&self, study: u64) {
        if let Err(error) = self.try_clean_up_study(study).await {
            tracing::error!(
                study,
                "cannot remove temporary files, retrying at the next start: {error:#}"
            );
        }
    }

    /// Removes the files of studies that ended while the server was not running.
    pub(crate) async fn clean_up_studies(&self) {
        match self
            .store
            .studies_with_leftovers(MAX_STUDIES_AT_START)
            .await
        {
            Ok(studies) => {
                for study in studies {
                    self.clean_up_study(study).await;
                }
            }
            Err(error) => tracing::error!("cannot find leftover files: {error:#}"),
        }
    }

    /// Returns the study of a run. Logs errors.
    pub(crate) async fn study_of(&self, run: u64) -> Option<u64> {
        match self.store.summary(run).await {
            Ok(summary) => summary?.study,
            Err(error) => {
                tracing::error!(run, "cannot read a run: {error:#}");
                None
            }
        }
    }
}
