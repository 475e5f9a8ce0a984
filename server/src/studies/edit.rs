//! Renames and deletes studies.

use crate::{
    error::Error,
    runs::{Runs, run_detached},
    store::study_edits::StudyDeletion,
};
use leadline_protocol::{runs_event::RunsEvent, study::detail::Study};

impl Runs {
    /// Changes the name of a study, and the names of its runs accordingly.
    pub(crate) async fn rename_study(&self, number: u64, name: &str) -> Result<Study, Error> {
        let store = self.store.clone();
        let new_name = name.to_owned();
        let renamed = async move { Ok(store.rename_study(number, &new_name).await?) };
        let runs = run_detached(renamed).await?;
        let runs = runs.ok_or(Error::study_not_found(number))?;
        for run in runs {
            self.publish_summary(run).await;
        }
        self.publish_study(number).await;
        self.study(number).await
    }

    /// Deletes an ended study and its runs. Their events are removed later.
    pub(crate) async fn delete_study(&self, number: u64) -> Result<(), Error> {
        let store = self.store.clone();
        let deleted = async move { Ok(store.delete_study(number).await?) };
        match run_detached(deleted).await? {
            StudyDeletion::Done(runs) => {
                self.deleted.notify_one();
                for number in runs {
                    self.publish(&RunsEvent::Deleted { number });
                }
                self.publish(&RunsEvent::StudyDeleted { number });
                Ok(())
            }
            StudyDeletion::Missing => Err(Error::study_not_found(number)),
            StudyDeletion::Active => Err(Error::Conflict {
                code: "not_ended",
                detail: format!("Study #{number} has not ended. Cancel it before deleting it."),
            }),
        }
    }
}
