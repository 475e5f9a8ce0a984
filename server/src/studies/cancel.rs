//! Cancels studies. Also cancels the remaining steps after a step that failed or was cancelled.

use crate::{
    error::Error,
    runs::{Runs, run_detached},
    store::{interim_looks::DECIDED, study_digest::DamagedStudy, study_steps::LastStep},
    studies::summary::summary,
};
use leadline_protocol::{run::RunSummary, status::RunStatus, study::summary::StudySummary};

impl Runs {
    /// Cancels the queued and running steps of a study.
    pub(crate) async fn cancel_study(&self, number: u64) -> Result<StudySummary, Error> {
        let runs = self.clone();
        // Runs in its own task, so a run cannot leave the queue unless its status change is stored.
        run_detached(async move { runs.cancel_steps(number).await }).await
    }

    async fn cancel_steps(&self, number: u64) -> Result<StudySummary, Error> {
        let stored = self.stored_study(number).await?;
        let mut active: Vec<&RunSummary> = stored.runs.iter().collect();
        active.retain(|run| !run.status.is_final());
        if active.is_empty() {
            let status = summary(&stored).status.as_str();
            return Err(Error::Conflict {
                code: "already_ended",
                detail: format!("Study #{number} is already {status}."),
            });
        }
        // In reverse order, so cancelling one step does not start the next one.
        for run in active.into_iter().rev() {
            self.cancel_or_stop(run.number).await?;
        }
        self.publish_study(number).await;
        self.try_clean_up_study(number).await?;
        Ok(summary(&self.stored_study(number).await?))
    }

    /// Returns why the next run of a study must not start, if an earlier step or a decision ended
    /// the study. Interrupted steps do not end a study.
    pub(crate) async fn skip_reason(&self, run: &RunSummary) -> anyhow::Result<Option<String>> {
        let Some(study) = run.study else {
            return Ok(None);
        };
        match self.study_end(study).await? {
            Some(end) if end.queue_order < run.queue_order() => Ok(Some(end.reason)),
            _ => Ok(None),
        }
    }

    /// Cancels queued steps if an earlier step or a decision ended the study.
    pub(crate) async fn try_cancel_remaining_steps(&self, study: u64) -> anyhow::Result<()> {
        let Some(end) = self.study_end(study).await? else {
            return Ok(());
        };
        let queued = self.store.queued_runs_after(study, end.queue_order).await?;
        for run in &queued {
            self.cancel_queued(*run, &end.reason).await?;
        }
        if !queued.is_empty() {
            self.publish_study(study).await;
        }
        Ok(())
    }

    /// Returns what ended a study, if it ended early. A damaged study ends, because its data must
    /// not be used.
    async fn study_end(&self, study: u64) -> anyhow::Result<Option<StudyEnd>> {
        match self.intact_study_end(study).await {
            Err(error) if error.is::<DamagedStudy>() => Ok(Some(StudyEnd {
                queue_order: 0,
                reason: format!("Not started: {error}"),
            })),
            end => end,
        }
    }

    /// Like `study_end`, but fails if the study is damaged. First takes all looks that are due.
    async fn intact_study_end(&self, study: u64) -> anyhow::Result<Option<StudyEnd>> {
        self.take_due_looks(study).await?;
        if let Some(pairs) = self.store.decided_after(study).await? {
            let reason = format!("{DECIDED} {pairs} pairs.");
            return Ok(Some(StudyEnd {
                queue_order: 0,
                reason,
            }));
        }
        if let Some(ended) = self.procedure_end(study).await? {
            let reason = format!("Not started: {ended}.");
            return Ok(Some(StudyEnd {
                queue_order: 0,
                reason,
            }));
        }
        let last = self.store.last_step(study).await?;
        Ok(last.map(|last| StudyEnd {
            queue_order: last.queue_order,
            reason: reason(&last),
        }))
    }

    /// Like `try_cancel_remaining_steps`, but logs errors.
    pub(crate) async fn cancel_remaining_steps(&self, study: u64) {
        if let Err(error) = self.try_cancel_remaining_steps(study).await {
            tracing::error!(study, "cannot cancel the remaining steps: {error:#}");
        }
    }
}

/// Why the remaining runs of a study do not start.
struct StudyEnd {
    /// Runs with a higher queue order do not start.
    queue_order: u64,
    reason: String,
}

fn reason(last: &LastStep) -> String {
    let step = last.step;
    match (last.status, &last.reason) {
        (RunStatus::Failed, Some(reason)) => format!("Not started: step {step} failed: {reason}"),
        (RunStatus::Failed, None) => format!("Not started: step {step} failed."),
        _ => format!("Not started: step {step} was cancelled."),
    }
}
