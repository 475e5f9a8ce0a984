//! Reading runs: one, a page, a series, how all of them stand. What is stored and what only the queue knows meet here.

use crate::error::ApiError;
use crate::events::subscription::Listener;
use crate::query::filter::Filter;
use crate::query::series::SeriesFold;
use crate::runs::{MAX_LISTENERS, Runs};
use crate::store::events::SamplePlace;
use leadline_protocol::query::{RunQuery, SeriesQuery};
use leadline_protocol::run::{Run, RunList, RunSummary};
use leadline_protocol::series::Series;
use leadline_protocol::status::RunStatus;

/// How things stand, for `/metrics`.
pub struct Figures {
    /// How many run.
    pub running: usize,
    /// How many wait.
    pub queued: usize,
    /// How many listen.
    pub listeners: usize,
    /// I/Os a second of each run that runs.
    pub iops: Vec<(u64, f64)>,
    /// How many there are, by status.
    pub by_status: Vec<(RunStatus, u64)>,
}

impl Runs {
    /// A page of runs.
    ///
    /// # Errors
    /// Bad fields, or the store cannot be read.
    pub async fn list(&self, query: &RunQuery) -> Result<RunList, ApiError> {
        let filter = Filter::of(query).map_err(ApiError::Refused)?;
        let page = self.0.store.list(&filter).await?;
        let runs = page.runs.into_iter().map(|run| self.placed(run)).collect();
        Ok(RunList {
            runs,
            next_cursor: page.next.map(|cursor| cursor.encode()),
            total: page.total,
        })
    }

    /// One run.
    ///
    /// # Errors
    /// There is none, or the store cannot be read.
    pub async fn get(&self, number: u64) -> Result<Run, ApiError> {
        let mut run = self
            .0
            .store
            .run(number)
            .await?
            .ok_or(ApiError::no_run(number))?;
        run.summary = self.placed(run.summary);
        Ok(run)
    }

    /// What lists show of one run.
    ///
    /// # Errors
    /// There is none, or the store cannot be read.
    pub async fn summary(&self, number: u64) -> Result<RunSummary, ApiError> {
        Ok(self.placed(
            self.0
                .store
                .summary(number)
                .await?
                .ok_or(ApiError::no_run(number))?,
        ))
    }

    /// A listener of a run, from an event on.
    ///
    /// # Errors
    /// There is no such run.
    pub async fn listen(&self, number: u64, since: u64) -> Result<Listener, ApiError> {
        // Looked up first: a run that ends in between is then read from the store, whole.
        let live = self.board().lives.get(&number).cloned();
        self.summary(number).await?;
        Ok(Listener::new(number, self.0.store.clone(), live, since))
    }

    /// A run's samples in at most `points` buckets.
    ///
    /// # Errors
    /// There is no such run, or the store cannot be read.
    pub async fn series(
        &self,
        number: u64,
        query: &SeriesQuery,
        points: u32,
    ) -> Result<Series, ApiError> {
        let store = &self.0.store;
        let run = self.get(number).await?;
        let last_ms = store.last_sample_ms(number).await?.unwrap_or(0.0);
        // Without a measured window all there is lies before it.
        let zero_ms = store.measure_begin_ms(number).await?.unwrap_or(last_ms);
        let from_ms = query.from_ms.unwrap_or(0.0);
        // A bound keeps what is asked for and never sampled from becoming buckets.
        let to_ms = query
            .to_ms
            .unwrap_or(f64::INFINITY)
            .min(last_ms - zero_ms)
            .max(from_ms);
        let mut fold = SeriesFold::new(number, (from_ms, to_ms), points, run.sample_ms);
        let mut place = SamplePlace {
            t_ms: zero_ms + from_ms,
            seq: 0,
        };
        loop {
            // A window that ends just behind the span may lie in it with its middle.
            let page = store
                .samples_behind(number, place, zero_ms + to_ms + f64::from(run.sample_ms))
                .await?;
            let Some(last) = page.last().map(|row| row.0) else {
                return Ok(fold.finish());
            };
            page.iter()
                .for_each(|(place, sample)| fold.push(place.t_ms - zero_ms, sample));
            place = last;
        }
    }

    /// How things stand.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn figures(&self) -> anyhow::Result<Figures> {
        let by_status = self.0.store.count_by_status().await?;
        let listeners = MAX_LISTENERS - self.0.listeners.available_permits();
        let board = self.board();
        let (running, queued) = board.queue.counts();
        let iops = board
            .queue
            .running()
            .filter_map(|run| Some((run, board.lives.get(&run)?.iops())))
            .collect();
        Ok(Figures {
            running,
            queued,
            listeners,
            iops,
            by_status,
        })
    }

    /// How many run, and how many wait.
    pub fn counts(&self) -> (u64, u64) {
        let (running, queued) = self.board().queue.counts();
        (running as u64, queued as u64)
    }

    pub(crate) fn placed(&self, mut run: RunSummary) -> RunSummary {
        run.queue = self.board().queue.place(run.number);
        run
    }
}
