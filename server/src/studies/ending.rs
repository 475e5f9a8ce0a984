//! How a study comes to its end. The steps behind one that ended it are cancelled at once, each with the reason. When the
//! last has ended, the files of the study's own are removed that a step which never ran, or was killed, would have
//! removed. The store knows them from the beginning: a server that dies in between does it when it comes back.
//!
//! Not here: which files those are (the runner's `study`), and whether they may be touched (its guard).

use crate::runs::Runs;
use crate::store::studies::EndedAt;
use leadline_protocol::run::RunSummary;
use leadline_protocol::status::RunStatus;
use leadline_protocol::study::own::OwnedFiles;

/// Studies that are tidied up after at a start, the newest: more have been tried often enough.
const MAX_AT_START: u32 = 100;

impl Runs {
    /// Why a run does not begin though it is its turn: a step before it ended the study. What the server itself
    /// interrupted did not fail, and the study goes on.
    pub(crate) async fn study_over(&self, run: &RunSummary) -> anyhow::Result<Option<String>> {
        let Some((study, step)) = run.study.zip(run.step) else {
            return Ok(None);
        };
        let ended = self.0.store.step_that_ended(study).await?;
        Ok(ended
            .filter(|ended| ended.step < step)
            .map(|ended| why(&ended)))
    }

    /// Cancels the steps that a step of the same study has ended.
    pub(crate) async fn cancel_rest(&self, study: u64) -> anyhow::Result<()> {
        let Some(ended) = self.0.store.step_that_ended(study).await? else {
            return Ok(());
        };
        for run in self.0.store.queued_behind(study, ended.step).await? {
            self.cancel_waiting(run, &why(&ended)).await?;
        }
        Ok(())
    }

    /// Removes what a study left behind, if it is over. Nothing else has started on its devices yet.
    pub(crate) async fn tidy_up(&self, study: u64) -> anyhow::Result<()> {
        let Some(stored) = self.0.store.study(study).await? else {
            return Ok(());
        };
        if stored.own_files.is_empty() || stored.runs.iter().any(|run| !run.status.is_final()) {
            return Ok(());
        }
        let files = stored.own_files.into_iter().map(|file| file.path).collect();
        let tidied = self
            .0
            .runner
            .tidy(&OwnedFiles {
                file_id: stored.mark,
                files,
            })
            .await?;
        tracing::info!(
            study,
            removed = tidied.removed.len(),
            left = tidied.left.len(),
            "tidied up after a study"
        );
        self.0.store.keep_left_behind(study, &tidied.left).await?;
        self.announce_study(study).await;
        Ok(())
    }

    /// A study may have come to its end with one of its runs: the rest is cancelled.
    pub(crate) async fn end_rest(&self, study: u64) {
        if let Err(error) = self.cancel_rest(study).await {
            tracing::error!(
                study,
                error = format!("{error:#}"),
                "the rest of a study cannot be cancelled yet"
            );
        }
    }

    /// Removes what the studies of the last server left behind.
    pub(crate) async fn tidy_up_all(&self) {
        match self.0.store.untidy_studies(MAX_AT_START).await {
            Ok(studies) => {
                for study in studies {
                    self.try_to_tidy_up(study).await;
                }
            }
            Err(error) => tracing::error!(
                error = format!("{error:#}"),
                "studies cannot be tidied up after"
            ),
        }
    }

    /// Removes what a study left behind, if it is over. What stops that is said in the log.
    pub(crate) async fn try_to_tidy_up(&self, study: u64) {
        if let Err(error) = self.tidy_up(study).await {
            tracing::error!(
                study,
                error = format!("{error:#}"),
                "its files may stay until the next start"
            );
        }
    }

    /// The study that a run is a step of; `None` also when it cannot be told, which is said in the log.
    pub(crate) async fn study_of(&self, run: u64) -> Option<u64> {
        let summary = self.0.store.summary(run).await;
        summary
            .inspect_err(|error| {
                tracing::error!(run, error = format!("{error:#}"), "a run cannot be read")
            })
            .ok()??
            .study
    }
}

fn why(ended: &EndedAt) -> String {
    match (ended.status, &ended.reason) {
        (RunStatus::Failed, Some(reason)) => {
            format!("Not begun: step {} failed: {reason}", ended.step)
        }
        (RunStatus::Failed, None) => format!("Not begun: step {} failed.", ended.step),
        _ => format!("Not begun: step {} was cancelled.", ended.step),
    }
}
