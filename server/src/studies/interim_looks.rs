//! Interim looks at studies with `until_decided`.

use crate::{
    query::compare::study_groups,
    runs::Runs,
    store::{studies::StoredStudy, study_digest::log_damaged},
};
use leadline_protocol::{
    run::Run,
    study::until_decided::{Look, PlannedLook, UntilDecided},
};

/// Maximum number of undecided studies to check at startup. Older ones were handled at previous
/// startups.
const MAX_STUDIES_AT_START: u32 = 100;

impl Runs {
    /// Takes and stores the looks that are due because their runs have ended. Must be called before
    /// another run of the study starts.
    pub(crate) async fn take_due_looks(&self, study: u64) -> anyhow::Result<()> {
        while let Some(stored) = self.store.study(study).await?
            && let Some(until) = &stored.until_decided
            && let Some(planned) = due_look(&stored)
        {
            let look = self.look(&stored, until, planned).await?;
            let outcome = look.outcome.as_str();
            tracing::info!(study, pairs = planned.pairs, outcome, "evaluated a study");
            let now_ms = crate::clock::now_ms();
            self.store.insert_look(study, &look, now_ms).await?;
            self.publish_study(study).await;
        }
        Ok(())
    }

    /// Takes the looks that were due when the previous server process was killed.
    pub(crate) async fn take_overdue_looks(&self) -> anyhow::Result<()> {
        for study in self.store.undecided_studies(MAX_STUDIES_AT_START).await? {
            log_damaged(self.take_due_looks(study).await)?;
        }
        Ok(())
    }

    async fn look(
        &self,
        stored: &StoredStudy,
        until: &UntilDecided,
        planned: PlannedLook,
    ) -> anyhow::Result<Look> {
        let mut runs: Vec<Run> = Vec::new();
        let of_look = stored
            .runs
            .iter()
            .filter(|run| run.repeat <= Some(planned.pairs));
        for run in of_look {
            // If a run has no intact result, its block remains incomplete.
            let run = self.store.run(run.number).await?;
            runs.extend(run.filter(|run| !run.summary.damaged));
        }
        let (until, steps) = (until.clone(), stored.steps.clone());
        let look = tokio::task::spawn_blocking(move || {
            let groups = study_groups(&runs, &steps);
            leadline_compare::interim_looks::look(&groups, &until, planned)
        });
        Ok(look.await?)
    }
}

/// Returns the first look whose runs have ended but that has not been taken yet.
pub(super) fn due_look(study: &StoredStudy) -> Option<PlannedLook> {
    let until = study.until_decided.as_ref()?;
    let next = until.next_look(&study.looks)?;
    let ahead = until.looks.iter().filter(|look| look.pairs >= next.pairs);
    ahead.copied().find(|look| study.is_look_due(look.pairs))
}
