//! Moves the samples of long ended runs into compressed chunks, step by step.

use crate::{
    rollups::chunk::{self, TimedSample},
    store::{Store, samples},
};
use anyhow::Result;
use sqlx::{query, query_as, query_scalar};

/// Rollups of 20 windows that a run must have: ten minutes at the default sampling interval. Shorter
/// runs keep every histogram.
const MIN_ROLLUPS: u32 = 300;
/// Samples of a chunk.
const SAMPLES: usize = 200;

impl Store {
    /// Compresses some samples. Returns false if there was nothing to do.
    pub(crate) async fn compaction_step(&self) -> Result<bool> {
        let Some((run, next_seq)) = self.next_compaction().await? else {
            return Ok(false);
        };
        let rows: Vec<(i64, f64, String)> = query_as(
            "SELECT seq, t_ms, line FROM events WHERE run = ? AND seq >= ? AND type = 'sample' ORDER BY seq LIMIT ?",
        )
        .bind(run)
        .bind(next_seq)
        .bind(SAMPLES as u32)
        .fetch_all(&self.readers)
        .await?;
        let Some((first, ..)) = rows.first() else {
            return self.finish_compaction(run, next_seq).await;
        };
        // The last samples stay, so that the run has a last sample in `events`.
        if rows.len() < SAMPLES {
            return self.finish_compaction(run, next_seq).await;
        }
        let first = *first;
        let consecutive = (first..).zip(&rows).take_while(|(seq, row)| *seq == row.0);
        let length = consecutive.count();
        let last = first + length as i64 - 1;
        let last_t_ms = rows[length - 1].1;
        let samples: Vec<TimedSample> = samples::parse(&rows[..length])?;
        let data = tokio::task::spawn_blocking(move || chunk::encode(samples)).await??;

        let mut transaction = self.begin_unsynced().await?;
        let connection = &mut transaction.connection;
        let removed = query("DELETE FROM events WHERE run = ? AND seq BETWEEN ? AND ?")
            .bind(run)
            .bind(first)
            .bind(last)
            .execute(&mut *connection)
            .await?;
        // Otherwise the run was deleted.
        if removed.rows_affected() == length as u64 {
            query("INSERT INTO sample_chunks (run, first_seq, last_seq, last_t_ms, data) VALUES (?, ?, ?, ?, ?)")
                .bind(run)
                .bind(first)
                .bind(last)
                .bind(last_t_ms)
                .bind(data)
                .execute(&mut *connection)
                .await?;
            query("INSERT OR REPLACE INTO compactions (run, next_seq, is_done) VALUES (?, ?, 0)")
                .bind(run)
                .bind(last + 1)
                .execute(&mut *connection)
                .await?;
            transaction.commit().await?;
        }
        Ok(true)
    }

    /// A run with samples to compress, and the sequence number to continue with.
    async fn next_compaction(&self) -> sqlx::Result<Option<(i64, i64)>> {
        query_as(
            "SELECT number, coalesce(next_seq, 0) FROM runs LEFT JOIN compactions ON run = number
             WHERE status IN ('done', 'failed', 'cancelled', 'interrupted') AND is_done IS NOT 1
             AND (SELECT count(*) FROM rollups WHERE rollups.run = number AND windows = 20) > ? LIMIT 1",
        )
        .bind(MIN_ROLLUPS)
        .fetch_optional(&self.readers)
        .await
    }

    async fn finish_compaction(&self, run: i64, next_seq: i64) -> Result<bool> {
        let mut transaction = self.begin_unsynced().await?;
        query("INSERT OR REPLACE INTO compactions (run, next_seq, is_done) VALUES (?, ?, 1)")
            .bind(run)
            .bind(next_seq)
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Whether samples of a run are compressed.
    pub(crate) async fn is_compacted(&self, run: u64) -> Result<bool> {
        let compacted = query_scalar("SELECT EXISTS (SELECT 1 FROM sample_chunks WHERE run = ?)")
            .bind(run.cast_signed())
            .fetch_one(&self.readers);
        Ok(compacted.await?)
    }
}
