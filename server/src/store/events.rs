//! Reads and appends events.

use crate::{
    rollups::builder::Rollup,
    store::{Store, entry::Entry, rollups},
};
use anyhow::Result;
use leadline_protocol::sample::Sample;
use sqlx::types::Json;
use std::sync::Arc;

/// Samples per page: a few hundred KiB.
const SAMPLES_PER_PAGE: u32 = 256;

/// Position of a sample in its run, ordered by time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplePosition {
    /// End of the sample's window, since the start of the run.
    pub t_ms: f64,
    pub seq: u64,
}

impl Store {
    /// Appends events that may be published before they are on disk.
    pub(crate) async fn append(
        &self,
        run: u64,
        entries: &[Entry],
        rollups: &[Rollup],
    ) -> Result<()> {
        let mut transaction = self.begin_unsynced().await?;
        for entry in entries {
            entry.insert(&mut transaction.connection, run).await?;
        }
        rollups::insert(&mut transaction.connection, run, rollups).await?;
        Ok(transaction.commit().await?)
    }

    /// Sequence numbers and lines of up to `limit` events from `seq` on.
    pub(crate) async fn events_from(
        &self,
        run: u64,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<(u64, Arc<str>)>> {
        Ok(sqlx::query_as(
            "SELECT seq, line FROM events WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?",
        )
        .bind(run.cast_signed())
        .bind(i64::try_from(seq).unwrap_or(i64::MAX))
        .bind(limit)
        .fetch_all(&self.readers)
        .await?)
    }

    /// Sequence number and time of the last event.
    ///
    /// # Errors
    /// Fails if the run has no events.
    pub(crate) async fn last_event(&self, run: u64) -> Result<(u64, f64)> {
        Ok(
            sqlx::query_as("SELECT seq, t_ms FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1")
                .bind(run.cast_signed())
                .fetch_one(&self.readers)
                .await?,
        )
    }

    /// Start of the measured window since the start of the run, if there is one.
    pub(crate) async fn measure_begin_ms(&self, run: u64) -> Result<Option<f64>> {
        Ok(sqlx::query_scalar(
            "SELECT min(t_ms) FROM events WHERE run = ? AND type = 'phase'
             AND line ->> 'phase' = 'measure' AND line ->> 'state' = 'begin'",
        )
        .bind(run.cast_signed())
        .fetch_one(&self.readers)
        .await?)
    }

    /// The next page of samples after a position and up to `to_ms` (since the start of the run), in
    /// order. Empty at the end.
    pub(crate) async fn samples_after(
        &self,
        run: u64,
        position: SamplePosition,
        to_ms: f64,
    ) -> Result<Vec<(SamplePosition, Sample)>> {
        let rows: Vec<(u64, f64, Json<Sample>)> = sqlx::query_as(
            "SELECT seq, t_ms, line FROM events WHERE run = ? AND type = 'sample' AND (t_ms, seq) > (?, ?) AND t_ms <= ?
             ORDER BY t_ms, seq LIMIT ?",
        )
        .bind(run.cast_signed())
        .bind(position.t_ms)
        .bind(position.seq.cast_signed())
        .bind(to_ms)
        .bind(SAMPLES_PER_PAGE)
        .fetch_all(&self.readers)
        .await?;
        let samples = rows
            .into_iter()
            .map(|(seq, t_ms, Json(sample))| (SamplePosition { t_ms, seq }, sample));
        Ok(samples.collect())
    }

    /// End of the last sample since the start of the run.
    pub(crate) async fn last_sample_ms(&self, run: u64) -> Result<Option<f64>> {
        Ok(
            sqlx::query_scalar("SELECT max(t_ms) FROM events WHERE run = ? AND type = 'sample'")
                .bind(run.cast_signed())
                .fetch_one(&self.readers)
                .await?,
        )
    }
}
