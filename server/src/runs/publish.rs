//! Publishes changes to list subscribers.

use crate::{runs::Runs, store::fault::StoreFault};
use leadline_protocol::runs_event::RunsEvent;

impl Runs {
    pub(crate) fn publish(&self, event: &RunsEvent) {
        if let Ok(json) = serde_json::to_string(event) {
            // Sending fails only if there are no subscribers.
            let _ = self.changes.send(json.into());
        }
    }

    /// Publishes a run and its study.
    pub(crate) async fn publish_run(&self, number: u64) {
        if let Some(study) = self.publish_summary(number).await {
            self.publish_study(study).await;
        }
    }

    /// Publishes a run. Returns the number of its study.
    pub(crate) async fn publish_summary(&self, number: u64) -> Option<u64> {
        match self.summary(number).await {
            Ok(run) => {
                let study = run.study;
                let run = Box::new(run);
                self.publish(&RunsEvent::Run { run });
                study
            }
            Err(error) => {
                tracing::error!(run = number, "cannot publish: {error:#}");
                None
            }
        }
    }

    pub(crate) fn publish_queue(&self) {
        let (running, queued) = self.counts();
        self.publish(&RunsEvent::Queue { running, queued });
    }

    /// Publishes whether the database accepts writes, until the server exits.
    pub(crate) async fn publish_faults(self) {
        let mut faults = self.store.faults();
        while faults.changed().await.is_ok() {
            let event = store_event(faults.borrow_and_update().as_ref());
            self.publish(&event);
        }
    }

    /// The initial state for a client: the queue, and whether the database accepts writes.
    pub(crate) fn current_state(&self) -> [RunsEvent; 2] {
        let (running, queued) = self.counts();
        let fault = self.store.check_health().err();
        [
            RunsEvent::Queue { running, queued },
            store_event(fault.as_ref()),
        ]
    }

    /// Ends a run's event streams after its last event.
    pub(crate) fn close_subscribers(&self, number: u64) {
        let buffer = self.scheduler().active_runs.remove(&number);
        if let Some(buffer) = buffer {
            buffer.close();
        }
    }
}

fn store_event(fault: Option<&StoreFault>) -> RunsEvent {
    RunsEvent::Store {
        code: fault.map(|fault| fault.code().into()),
        detail: fault.map(ToString::to_string),
    }
}
