//! Reads events.

use crate::{
    rollups::chunk::TimedSample,
    store::{
        Store,
        chunks::{self, Chunk},
        events::EventRow,
        samples::{SamplePosition, parse},
    },
};
use anyhow::Result;
use leadline_protocol::{event::EventBody, sample::Sample};
use serde::Deserialize;
use sqlx::SqliteConnection;
use std::{ops::Range, sync::Arc};

/// Samples per page: a few hundred KiB.
const SAMPLES_PER_PAGE: u32 = 256;

/// Last event of a run. In every epoch except 0, it is also the first event of the epoch.
#[derive(Debug, Deserialize)]
pub(crate) struct EpochStart {
    pub seq: u64,
    #[serde(default)]
    pub epoch: u32,
}

impl Store {
    /// Returns about `limit` events starting at `seq`, with their sequence numbers and without
    /// gaps.
    pub(crate) async fn events_from(
        &self,
        run: u64,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<(u64, Arc<str>)>> {
        // A single transaction, because samples may be compressed at the same time.
        let mut snapshot = self.readers.begin().await?;
        let chunk = chunks::from_seq(&mut snapshot, run, seq).await?;
        if let Some(chunk) = chunk {
            if chunk.first_seq <= seq {
                return lines(chunk, seq);
            }
            return events_between(&mut snapshot, run, seq..chunk.first_seq, limit).await;
        }
        events_between(&mut snapshot, run, seq..u64::MAX, limit).await
    }

    /// Sequence number and time of the last event.
    ///
    /// # Errors
    /// The run has no events.
    pub(crate) async fn last_event(&self, run: u64) -> Result<(u64, f64)> {
        Ok(
            sqlx::query_as("SELECT seq, t_ms FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1")
                .bind(run.cast_signed())
                .fetch_one(&self.readers)
                .await?,
        )
    }

    /// Returns the epoch and the sequence number of the last event.
    ///
    /// # Errors
    /// The run has no events.
    pub(crate) async fn last_epoch(&self, run: u64) -> Result<EpochStart> {
        let line: String =
            sqlx::query_scalar("SELECT line FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1")
                .bind(run.cast_signed())
                .fetch_one(&self.readers)
                .await?;
        Ok(serde_json::from_str(&line)?)
    }

    /// Start of the measured window relative to the start of the run, if the window has started.
    pub(crate) async fn measure_begin_ms(&self, run: u64) -> Result<Option<f64>> {
        Ok(sqlx::query_scalar(
            "SELECT min(t_ms) FROM events WHERE run = ? AND type = 'phase'
             AND line ->> 'phase' = 'measure' AND line ->> 'state' = 'begin'",
        )
        .bind(run.cast_signed())
        .fetch_one(&self.readers)
        .await?)
    }

    /// Returns the next page of samples after a position and up to `to_ms` (relative to the start
    /// of the run), in order. Returns an empty page at the end.
    pub(crate) async fn samples_after(
        &self,
        run: u64,
        position: SamplePosition,
        to_ms: f64,
    ) -> Result<Vec<(SamplePosition, Sample)>> {
        let mut snapshot = self.readers.begin().await?;
        let chunk = chunks::after(&mut snapshot, run, position).await?;
        let before_seq = chunk
            .as_ref()
            .map_or(i64::MAX as u64, |chunk| chunk.first_seq);
        let rows: Vec<(i64, f64, String)> = sqlx::query_as(
            "SELECT seq, t_ms, line FROM events WHERE run = ? AND type = 'sample' AND (t_ms, seq) > (?, ?) AND t_ms <= ? AND seq < ?
             ORDER BY t_ms, seq LIMIT ?",
        )
        .bind(run.cast_signed())
        .bind(position.t_ms)
        .bind(position.seq.cast_signed())
        .bind(to_ms)
        .bind(before_seq.cast_signed())
        .bind(SAMPLES_PER_PAGE)
        .fetch_all(&mut *snapshot)
        .await?;
        if let Some(chunk) = chunk
            && rows.is_empty()
        {
            let after = |t_ms: f64, seq: u64| (t_ms, seq) > (position.t_ms, position.seq);
            let samples = chunk.into_samples();
            let samples = samples
                .filter(|(seq, (t_ms, _))| after(*t_ms, *seq) && *t_ms <= to_ms)
                .map(|(seq, (t_ms, sample))| (SamplePosition { t_ms, seq }, sample));
            return Ok(samples.collect());
        }
        let positions = rows.iter().map(|(seq, t_ms, _)| SamplePosition {
            t_ms: *t_ms,
            seq: seq.cast_unsigned(),
        });
        let samples = parse(&rows)?.into_iter().map(|(_, sample)| sample);
        Ok(positions.zip(samples).collect())
    }

    /// Time of the last sample, relative to the start of the run.
    pub(crate) async fn last_sample_ms(&self, run: u64) -> Result<Option<f64>> {
        Ok(
            sqlx::query_scalar("SELECT max(t_ms) FROM events WHERE run = ? AND type = 'sample'")
                .bind(run.cast_signed())
                .fetch_one(&self.readers)
                .await?,
        )
    }
}

/// Returns the sequence numbers and lines of up to `limit` events.
async fn events_between(
    connection: &mut SqliteConnection,
    run: u64,
    seqs: Range<u64>,
    limit: u32,
) -> Result<Vec<(u64, Arc<str>)>> {
    let bound = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
    Ok(sqlx::query_as(
        "SELECT seq, line FROM events WHERE run = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?",
    )
    .bind(run.cast_signed())
    .bind(bound(seqs.start))
    .bind(bound(seqs.end))
    .bind(limit)
    .fetch_all(connection)
    .await?)
}

/// Returns the events of a chunk starting at `seq`.
fn lines(chunk: Chunk, seq: u64) -> Result<Vec<(u64, Arc<str>)>> {
    let samples = chunk.into_samples().filter(|(other, _)| *other >= seq);
    let line = |(seq, (t_ms, sample)): (u64, TimedSample)| {
        let entry = EventRow::new(seq, t_ms, &EventBody::Sample(Box::new(sample)))?;
        Ok((seq, entry.line))
    };
    samples.map(line).collect()
}
