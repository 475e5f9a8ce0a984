//! The events of runs. Only the journal writes them.

use crate::store::{Durability, Store};
use futures_util::TryStreamExt;
use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use leadline_protocol::sample::Sample;
use sqlx::{Sqlite, Transaction};
use std::sync::Arc;

/// Samples of one page: a few hundred KiB.
const SAMPLES_PAGE: u32 = 256;

/// Where a sample stands among those of its run: by time, then by number.
#[derive(Clone, Copy, Debug)]
pub struct SamplePlace {
    /// Its end, in milliseconds since the run began on its host.
    pub t_ms: f64,
    /// Its number.
    pub seq: u64,
}

/// One event as it is kept and told.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its place in the list of its run.
    pub seq: u64,
    /// Milliseconds since the run began on its host.
    pub t_ms: f64,
    /// Its type.
    pub kind: &'static str,
    /// The whole event as JSON in one line, without a line end.
    pub line: Arc<str>,
}

impl Store {
    /// Keeps events that need not be on the disk before they are told.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn append(&self, run: u64, entries: &[Entry]) -> anyhow::Result<()> {
        let mut writer = self.writer().await;
        let mut transaction = writer.begin(Durability::Process).await?;
        insert(&mut transaction, run, entries).await?;
        transaction.commit().await?;
        writer.done();
        Ok(())
    }

    /// At most `limit` events of a run from `seq` on, in order.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn events_from(
        &self,
        run: u64,
        seq: u64,
        limit: u32,
    ) -> anyhow::Result<Vec<(u64, Arc<str>)>> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT seq, line FROM events WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?",
        )
        .bind(run.cast_signed())
        .bind(i64::try_from(seq).unwrap_or(i64::MAX))
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(seq, line)| (seq.cast_unsigned(), line.into()))
            .collect())
    }

    /// The number and time of a run's last event.
    ///
    /// # Errors
    /// The database cannot be read, or the run has no event.
    pub async fn last_event(&self, run: u64) -> anyhow::Result<(u64, f64)> {
        let row: (i64, f64) =
            sqlx::query_as("SELECT seq, t_ms FROM events WHERE run = ? ORDER BY seq DESC LIMIT 1")
                .bind(run.cast_signed())
                .fetch_one(&self.readers)
                .await?;
        Ok((row.0.cast_unsigned(), row.1))
    }

    /// When the measured window began, in milliseconds since the run began; `None` when it did not.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn measure_begin_ms(&self, run: u64) -> anyhow::Result<Option<f64>> {
        let mut rows = sqlx::query_as::<_, (f64, String)>(
            "SELECT t_ms, line FROM events WHERE run = ? AND type = 'phase' ORDER BY t_ms",
        )
        .bind(run.cast_signed())
        .fetch(&self.readers);
        while let Some((t_ms, line)) = rows.try_next().await? {
            let change: PhaseChange = serde_json::from_str(&line)?;
            if (change.phase, change.state) == (Phase::Measure, PhaseState::Begin) {
                return Ok(Some(t_ms));
            }
        }
        Ok(None)
    }

    /// The samples of a run behind a place, that is a time in milliseconds since the run began and a number, and up to
    /// `to_ms`: in order, a page at a time. Empty behind the last.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn samples_behind(
        &self,
        run: u64,
        place: SamplePlace,
        to_ms: f64,
    ) -> anyhow::Result<Vec<(SamplePlace, Sample)>> {
        let rows: Vec<(i64, f64, String)> = sqlx::query_as(
            "SELECT seq, t_ms, line FROM events WHERE run = ? AND type = 'sample' AND (t_ms, seq) > (?, ?) AND t_ms <= ?
             ORDER BY t_ms, seq LIMIT ?",
        )
        .bind(run.cast_signed())
        .bind(place.t_ms)
        .bind(place.seq.cast_signed())
        .bind(to_ms)
        .bind(SAMPLES_PAGE)
        .fetch_all(&self.readers)
        .await?;
        let sample = |(seq, t_ms, line): (i64, f64, String)| {
            Ok((
                SamplePlace {
                    t_ms,
                    seq: seq.cast_unsigned(),
                },
                serde_json::from_str(&line)?,
            ))
        };
        rows.into_iter().map(sample).collect()
    }

    /// The end of a run's last sample, in milliseconds since the run began; `None` when it has none.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn last_sample_ms(&self, run: u64) -> anyhow::Result<Option<f64>> {
        Ok(
            sqlx::query_scalar("SELECT max(t_ms) FROM events WHERE run = ? AND type = 'sample'")
                .bind(run.cast_signed())
                .fetch_one(&self.readers)
                .await?,
        )
    }
}

pub(crate) async fn insert(
    transaction: &mut Transaction<'_, Sqlite>,
    run: u64,
    entries: &[Entry],
) -> sqlx::Result<()> {
    for entry in entries {
        sqlx::query("INSERT INTO events (run, seq, t_ms, type, line) VALUES (?, ?, ?, ?, ?)")
            .bind(run.cast_signed())
            .bind(entry.seq.cast_signed())
            .bind(entry.t_ms)
            .bind(entry.kind)
            .bind(&*entry.line)
            .execute(&mut **transaction)
            .await?;
    }
    Ok(())
}
