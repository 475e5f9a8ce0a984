//! After a restart: what waited waits again, in order; what had left the queue is interrupted, with the samples it had.

use crate::events::buffer::Live;
use crate::events::journal::Journal;
use crate::runs::Runs;
use crate::store::runs::Unfinished;
use leadline_protocol::status::RunStatus;
use std::sync::Arc;

impl Runs {
    /// Takes up where the last server ended. How many runs were interrupted.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub async fn recover(&self) -> anyhow::Result<usize> {
        // Ending the rest of a study gives its locks back, and that starts whatever may start.
        self.board().held = true;
        let unfinished = self.0.store.unfinished().await?;
        let mut interrupted = 0;
        for run in unfinished {
            if run.status == RunStatus::Queued {
                self.queue_again(run).await?;
            } else {
                self.interrupt(run).await?;
                interrupted += 1;
            }
        }
        for study in self.0.store.waiting_studies().await? {
            self.cancel_rest(study).await?;
        }
        self.start_when_tidy();
        Ok(interrupted)
    }

    pub(crate) async fn queue_again(&self, run: Unfinished) -> anyhow::Result<()> {
        let (seq, _) = self.0.store.last_event(run.number).await?;
        let mut board = self.board();
        board.lives.insert(run.number, Arc::new(Live::new(seq + 1)));
        board.queue.push(run.number, run.locks);
        Ok(())
    }

    pub(crate) async fn interrupt(&self, run: Unfinished) -> anyhow::Result<()> {
        let (seq, _) = self.0.store.last_event(run.number).await?;
        let live = Arc::new(Live::new(seq + 1));
        let mut journal =
            Journal::resume(run.number, run.status, self.0.store.clone(), live).await?;
        let reason = "The server went away while it ran. What was measured until then is kept.";
        journal
            .move_to(RunStatus::Interrupted, Some(reason.into()))
            .await?;
        tracing::warn!(
            run = run.number,
            was = run.status.word(),
            "marked interrupted"
        );
        Ok(())
    }

    /// Starts what waits when the runners of the last server are gone, and what its studies left behind.
    pub(crate) fn start_when_tidy(&self) {
        let runs = self.clone();
        tokio::spawn(async move {
            if let Err(error) = runs.0.runner.wait_for_the_last().await {
                tracing::error!(%error, "whether runners of the last server are left cannot be told");
            }
            runs.tidy_up_all().await;
            runs.board().held = false;
            runs.start_ready();
        });
    }
}
