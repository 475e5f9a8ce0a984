//! Moves the samples of long runs into compressed chunks, step by step.

use crate::{
    rollups::chunk,
    store::{Store, samples},
};
use anyhow::Result;
use rustix::process::setpriority_process;
use sqlx::{query, query_as, query_scalar};
use std::thread::Builder;
use tokio::sync::oneshot;

/// Minimum run length, in rollups of 20 windows: ten minutes at the default sampling interval.
/// Shorter runs keep the histogram of every window.
const MIN_ROLLUPS: u32 = 300;
/// Samples per chunk.
const SAMPLES: usize = 200;
/// Number of an active run's newest samples that remain in `events`.
const KEPT_SAMPLES: usize = 600;

/// JSON lists of statuses.
pub(super) const ENDED: &str = r#"["done", "failed", "cancelled", "interrupted"]"#;
const ACTIVE: &str = r#"["preparing", "measuring", "finishing"]"#;
/// Nice value.
const LOWEST_PRIORITY: i32 = 19;
/// Maximum number of runs per step, more than are usually active at the same time.
const MAX_RUNS: u32 = 16;

/// A run number, and the sequence number from which to continue compressing its samples.
type Compaction = (i64, i64);

impl Store {
    /// Compresses some samples of a finished run. Returns false if there was nothing to do.
    pub(crate) async fn compaction_step(&self) -> Result<bool> {
        let Some(&(run, next_seq)) = self.compactions(ENDED).await?.first() else {
            return Ok(false);
        };
        // Keep the last samples uncompressed: a run's last sample must be in `events`.
        let rows = self.sample_rows(run, next_seq, SAMPLES).await?;
        if rows.len() < SAMPLES {
            return self.finish_compaction(run, next_seq).await;
        }
        self.compress(run, &rows).await
    }

    /// Compresses some samples of each active run. Returns false if there was nothing to do.
    pub(crate) async fn active_compaction_step(&self) -> Result<bool> {
        let needed = SAMPLES + KEPT_SAMPLES;
        let mut has_compressed = false;
        for (run, next_seq) in self.compactions(ACTIVE).await? {
            let rows = self.sample_rows(run, next_seq, needed).await?;
            if rows.len() == needed {
                has_compressed |= self.compress(run, &rows[..SAMPLES]).await?;
            }
        }
        Ok(has_compressed)
    }

    /// Reads `seq`, `t_ms` and `line` of samples.
    async fn sample_rows(
        &self,
        run: i64,
        next_seq: i64,
        limit: usize,
    ) -> sqlx::Result<Vec<(i64, f64, String)>> {
        query_as(
            "SELECT seq, t_ms, line FROM events WHERE run = ? AND seq >= ? AND type = 'sample' ORDER BY seq LIMIT ?",
        )
        .bind(run)
        .bind(next_seq)
        .bind(limit as u32)
        .fetch_all(&self.readers)
        .await
    }

    /// Moves samples into a chunk. `rows` must not be empty.
    async fn compress(&self, run: i64, rows: &[(i64, f64, String)]) -> Result<bool> {
        let first = rows[0].0;
        let consecutive = (first..).zip(rows).take_while(|(seq, row)| *seq == row.0);
        let length = consecutive.count();
        let last = first + length as i64 - 1;
        let last_t_ms = rows[length - 1].1;
        let rows = rows[..length].to_vec();
        let data = run_at_low_priority(move || chunk::encode(samples::parse(&rows)?)).await?;

        let mut transaction = self.begin_unsynced().await?;
        let connection = &mut transaction.connection;
        let removed = query("DELETE FROM events WHERE run = ? AND seq BETWEEN ? AND ?")
            .bind(run)
            .bind(first)
            .bind(last)
            .execute(&mut *connection)
            .await?;
        // A different count means that the run has been deleted since.
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

    async fn compactions(&self, statuses: &str) -> sqlx::Result<Vec<Compaction>> {
        query_as(
            "SELECT number, coalesce(next_seq, 0) FROM runs LEFT JOIN compactions ON run = number
             WHERE status IN (SELECT value FROM json_each(?)) AND is_done IS NOT 1
             AND EXISTS (SELECT 1 FROM rollups WHERE rollups.run = number AND windows = 20 LIMIT 1 OFFSET ?) LIMIT ?",
        )
        .bind(statuses)
        .bind(MIN_ROLLUPS)
        .bind(MAX_RUNS)
        .fetch_all(&self.readers)
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

    /// Whether any samples of a run are compressed.
    pub(crate) async fn is_compacted(&self, run: u64) -> Result<bool> {
        let compacted = query_scalar("SELECT EXISTS (SELECT 1 FROM sample_chunks WHERE run = ?)")
            .bind(run.cast_signed())
            .fetch_one(&self.readers);
        Ok(compacted.await?)
    }
}

/// Runs CPU-bound work on a lowest-priority thread, because a run may be active.
pub(super) async fn run_at_low_priority<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    Builder::new().name("maintenance".into()).spawn(move || {
        // On Linux, this sets the nice value of the thread. If it fails, the priority stays normal.
        let _ = setpriority_process(None, LOWEST_PRIORITY);
        drop(sender.send(work()));
    })?;
    receiver.await?
}
