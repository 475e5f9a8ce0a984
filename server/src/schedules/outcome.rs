//! Stores the final status of scheduled runs and studies.

use crate::{
    clock::now_ms,
    error::Error,
    runs::Runs,
    store::{schedule_starts::ActiveStart, study_digest::DamagedStudy},
    webhooks::messages::run_failed,
};
use leadline_protocol::{status::RunStatus, study::summary::StudyStatus};

const DELETED: &str = "Its runs were deleted.";

impl Runs {
    pub(super) async fn finish_ended_starts(&self) -> Result<(), Error> {
        for start in self.store.active_starts().await? {
            if let Some((status, reason)) = self.ended(&start).await? {
                self.store_final_status(&start, status, reason.as_deref())
                    .await?;
            }
        }
        Ok(())
    }

    async fn store_final_status(
        &self,
        start: &ActiveStart,
        status: StudyStatus,
        reason: Option<&str>,
    ) -> Result<(), Error> {
        let is_failed = matches!(status, StudyStatus::Failed | StudyStatus::Interrupted);
        let schedule = self.store.schedule(start.schedule).await?;
        let message = schedule.filter(|_| is_failed).map(|schedule| {
            let name = &schedule.definition.name;
            run_failed(name, start, Some(status), reason, now_ms())
        });
        let stored = self
            .store
            .store_final_status(start, status, reason, message);
        Ok(stored.await?)
    }

    /// `None` until the run or study has ended.
    async fn ended(
        &self,
        start: &ActiveStart,
    ) -> Result<Option<(StudyStatus, Option<String>)>, Error> {
        let deleted = || Some((StudyStatus::Cancelled, Some(DELETED.to_owned())));
        if let Some(study) = start.study {
            if self.store.has_unfinished_runs(study).await? {
                return Ok(None);
            }
            let stored = match self.store.study(study).await {
                Ok(Some(stored)) => stored,
                Ok(None) => return Ok(deleted()),
                Err(error) if error.is::<DamagedStudy>() => {
                    return Ok(Some((StudyStatus::Failed, Some(error.to_string()))));
                }
                Err(error) => return Err(error.into()),
            };
            let summary = crate::studies::summary::summary(&stored);
            let is_final = summary.status.is_final();
            return Ok(is_final.then_some((summary.status, summary.reason)));
        }
        let Some(run) = start.run else {
            return Ok(None);
        };
        let Some(run) = self.store.summary(run).await? else {
            return Ok(deleted());
        };
        Ok(final_status(run.status).map(|status| (status, run.reason)))
    }
}

fn final_status(status: RunStatus) -> Option<StudyStatus> {
    match status {
        RunStatus::Done => Some(StudyStatus::Done),
        RunStatus::Failed => Some(StudyStatus::Failed),
        RunStatus::Cancelled => Some(StudyStatus::Cancelled),
        RunStatus::Interrupted => Some(StudyStatus::Interrupted),
        _ => None,
    }
}
