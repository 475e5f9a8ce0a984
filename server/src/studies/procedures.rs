//! Results of studies whose runs follow a procedure. Also decides when such a study ends.

use crate::{error::Error, runs::Runs, store::studies::StoredStudy};
use leadline_compare::{
    group::ComparedRun,
    procedure::{early_end, results},
    procedure_run::ProcedureRun,
};
use leadline_protocol::{run::Run, status::RunStatus, study::procedure::ProcedureResults};
use std::collections::BTreeMap;

/// A run in a procedure. If it is a retry, `first_attempt` is the status of the failed run.
pub(super) struct StoredRun {
    run: Run,
    first_attempt: Option<RunStatus>,
}

impl Runs {
    /// Returns the results of a study's procedure so far.
    pub(crate) async fn procedure_results(&self, number: u64) -> Result<ProcedureResults, Error> {
        let stored = self.stored_study(number).await?;
        let Some(procedure) = stored.procedure.clone() else {
            return Err(Error::invalid(
                "no_procedure",
                "n",
                format!("Study #{number} has no procedure."),
                "Use GET /studies/{n} for its results.",
            ));
        };
        let runs = self.procedure_runs(&stored).await?;
        let found = compute_with_inputs(runs, move |runs| results(&procedure, runs));
        Ok(found.await?)
    }

    /// Returns the reason why a study's remaining runs are not needed, if there is one. The
    /// decision is stored before it takes effect, because the study's status is derived from it.
    pub(super) async fn procedure_end(&self, number: u64) -> anyhow::Result<Option<String>> {
        let Some(stored) = self.store.study(number).await? else {
            return Ok(None);
        };
        let Some(procedure) = stored.procedure.clone().filter(|_| stored.ended.is_none()) else {
            return Ok(stored.ended);
        };
        let runs = self.procedure_runs(&stored).await?;
        let end = compute_with_inputs(runs, move |runs| early_end(&procedure, runs)).await?;
        if let Some(end) = &end {
            tracing::info!(study = number, end, "a study's procedure ended");
            self.store.set_ended(number, end).await?;
        }
        Ok(end)
    }

    /// Returns one element per planned run: `None` if the run has no intact result.
    pub(super) async fn procedure_runs(
        &self,
        stored: &StoredStudy,
    ) -> anyhow::Result<Vec<Option<StoredRun>>> {
        let mut by_step: BTreeMap<u32, StoredRun> = BTreeMap::new();
        // Retries come after the failed runs and replace them.
        for summary in &stored.runs {
            let Some(run) = self.store.run(summary.number).await? else {
                continue;
            };
            let step = summary.step.unwrap_or_default();
            let failed = by_step
                .remove(&step)
                .map(|failed| failed.run.summary.status);
            let first_attempt = failed.filter(|_| summary.retry_of.is_some());
            by_step.insert(step, StoredRun { run, first_attempt });
        }
        let steps = 1..=stored.steps.len() as u32;
        Ok(steps.map(|step| by_step.remove(&step)).collect())
    }
}

/// Passes the runs to `compute` on a blocking thread.
pub(super) async fn compute_with_inputs<T: Send + 'static>(
    runs: Vec<Option<StoredRun>>,
    compute: impl FnOnce(&[Option<ProcedureRun>]) -> T + Send + 'static,
) -> anyhow::Result<T> {
    let computed = tokio::task::spawn_blocking(move || {
        let inputs: Vec<Option<ProcedureRun>> = runs
            .iter()
            .map(|run| {
                let StoredRun { run, first_attempt } = run.as_ref()?;
                Some(ProcedureRun {
                    run: ComparedRun::new(run, None),
                    first_attempt: *first_attempt,
                })
            })
            .collect();
        compute(&inputs)
    });
    Ok(computed.await?)
}
