//! Reads runs: stored data plus their position in the queue.

use crate::{
    error::Error,
    events::subscription::Subscription,
    query::filter,
    runs::{Runs, state::ServerPhase},
    store::Store,
};
use leadline_protocol::{
    query::RunQuery,
    run::{Run, RunList, RunSummary},
    status::RunStatus,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, broadcast, watch},
    time::timeout,
};

/// Shorter than the health check timeouts of common process supervisors.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Counts for `GET /metrics`.
pub(crate) struct ServerStats {
    pub running: usize,
    pub queued: usize,
    pub streams: usize,
    /// Number and IOPS of each active run.
    pub iops: Vec<(u64, f64)>,
    pub by_status: Vec<(RunStatus, u64)>,
}

impl Runs {
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// # Errors
    /// The server is stopping, or the database does not accept writes.
    pub(crate) fn check_accepting(&self) -> Result<(), Error> {
        if *self.phase.borrow() != ServerPhase::Open {
            return Err(Error::Stopping);
        }
        Ok(self.store.check_health()?)
    }

    pub(crate) async fn list(&self, query: &RunQuery) -> Result<RunList, Error> {
        let filter = filter::parse(query).map_err(Error::Rejected)?;
        let mut list = self.store.list(&filter).await?;
        for run in &mut list.runs {
            run.queue = self.scheduler().queue.position(run.number);
        }
        Ok(list)
    }

    pub(crate) async fn get(&self, number: u64) -> Result<Run, Error> {
        let run = self.store.run(number).await?;
        let mut run = run.ok_or(Error::run_not_found(number))?;
        run.summary = self.with_queue_position(run.summary);
        Ok(run)
    }

    pub(crate) async fn summary(&self, number: u64) -> Result<RunSummary, Error> {
        let run = self.store.summary(number).await?;
        Ok(self.with_queue_position(run.ok_or(Error::run_not_found(number))?))
    }

    /// Returns a run if its stored data is not damaged.
    ///
    /// # Errors
    /// Returns the problem `damaged` if the stored data is damaged.
    pub(crate) async fn intact_run(&self, number: u64) -> Result<Run, Error> {
        let run = self.get(number).await?;
        match run.summary.damaged {
            true => Err(Error::damaged(number)),
            false => Ok(run),
        }
    }

    /// # Errors
    /// Returns the problem `damaged` if the stored data is damaged.
    pub(crate) async fn intact_summary(&self, number: u64) -> Result<RunSummary, Error> {
        let run = self.summary(number).await?;
        match run.damaged {
            true => Err(Error::damaged(number)),
            false => Ok(run),
        }
    }

    /// Subscribes to a run's events, starting with event `since`, or earlier if the caller's events
    /// are from an earlier `epoch`.
    pub(crate) async fn events_since(
        &self,
        number: u64,
        since: u64,
        epoch: Option<u32>,
    ) -> Result<Subscription, Error> {
        // Look this up before reading the store. If the run ends in between, the stored data is
        // complete.
        let live = self.scheduler().active_runs.get(&number).cloned();
        self.intact_summary(number).await?;
        let mut first = since;
        if let Some(epoch) = epoch {
            let last = self.store.last_epoch(number).await?;
            if last.epoch > epoch {
                first = first.min(last.seq);
            }
        }
        Ok(Subscription::new(number, self.store.clone(), live, first))
    }

    /// Returns the events stored so far.
    pub(crate) async fn stored_events(&self, number: u64) -> Result<Subscription, Error> {
        self.intact_summary(number).await?;
        Ok(Subscription::new(number, self.store.clone(), None, 0))
    }

    /// The permit must be held for the lifetime of a stream.
    pub(crate) fn stream_permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        let permit = self.stream_permits.clone().try_acquire_owned();
        permit.map_err(|_| Error::TooManyStreams(self.max_streams))
    }

    /// Returns why runs cannot currently start; empty if they can.
    pub(crate) async fn why_not_ready(&self) -> Vec<String> {
        let written = timeout(STORE_TIMEOUT, self.store.check_writable()).await;
        let store = match written {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the database does not respond".into()),
        };
        let runner = (!self.runner.exists()).then(|| "the runner program is missing".to_owned());
        store.into_iter().chain(runner).collect()
    }

    pub(crate) fn phase(&self) -> watch::Receiver<ServerPhase> {
        self.phase.subscribe()
    }

    /// Subscribes to `RunsEvent`s as JSON.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<str>> {
        self.changes.subscribe()
    }

    pub(crate) async fn stats(&self) -> anyhow::Result<ServerStats> {
        let by_status = self.store.count_by_status().await?;
        let scheduler = self.scheduler();
        let (running, queued) = scheduler.queue.counts();
        let iops = scheduler
            .queue
            .running()
            .filter_map(|run| Some((run, scheduler.active_runs.get(&run)?.iops())))
            .collect();
        Ok(ServerStats {
            running,
            queued,
            streams: self.max_streams - self.stream_permits.available_permits(),
            iops,
            by_status,
        })
    }

    /// Returns the numbers of running and queued runs.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let (running, queued) = self.scheduler().queue.counts();
        (running as u64, queued as u64)
    }

    /// Adds the queue position.
    pub(crate) fn with_queue_position(&self, mut run: RunSummary) -> RunSummary {
        let scheduler = self.scheduler();
        run.queue = scheduler.queue.position(run.number);
        if let Some(position) = &mut run.queue
            && scheduler.paused
        {
            position.reason = "waiting for the previous server's runners to exit".into();
        }
        drop(scheduler);
        run
    }
}
