//! Deletes runs. A deleted run disappears when its row in `runs` is removed. Its events are removed
//! later, in small steps, so no transaction delays an active run's events.

use crate::store::{Store, baselines, study_contents, study_steps};
use anyhow::Result;
use sqlx::{SqliteConnection, query, query_scalar};

/// Events or rollups removed per step; a step takes a few milliseconds.
const ROWS_PER_STEP: i64 = 500;
/// Statements in order of execution. A chunk is about as large as twenty events.
const REMOVE_SOME: [&str; 3] = [
    "DELETE FROM events WHERE run = ?1 AND seq < (SELECT min(seq) FROM events WHERE run = ?1) + ?2",
    "DELETE FROM sample_chunks WHERE rowid IN (SELECT rowid FROM sample_chunks WHERE run = ?1 LIMIT ?2 / 20)",
    "DELETE FROM rollups WHERE rowid IN (SELECT rowid FROM rollups WHERE run = ?1 LIMIT ?2)",
];
/// Each statement removes one row.
const REMOVE_REST: [&str; 2] = [
    "DELETE FROM compactions WHERE run = ?",
    "DELETE FROM deleted_runs WHERE run = ?",
];
/// Pages returned to the filesystem per step. SQLite searches the free page list for each page, so
/// the list must stay short: emptying a long list takes quadratic time.
const PAGES_PER_STEP: i64 = 256;

impl Store {
    /// Deletes a run. Returns false if the run does not exist or has not ended.
    pub(crate) async fn delete_run(&self, run: u64) -> Result<bool> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        let deleted = query("DELETE FROM runs WHERE number = ? AND status IN ('done', 'failed', 'cancelled', 'interrupted')")
            .bind(run.cast_signed())
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() == 0 {
            return Ok(false);
        }
        study_contents::remove_run(connection, run).await?;
        query("INSERT INTO deleted_runs (run) VALUES (?)")
            .bind(run.cast_signed())
            .execute(&mut *connection)
            .await?;
        study_steps::delete_empty_studies(connection).await?;
        baselines::delete_orphans(connection).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Removes some rows of deleted runs, or returns some free pages to the filesystem. Returns
    /// false if there was nothing to do.
    pub(crate) async fn purge_step(&self) -> Result<bool> {
        let mut transaction = self.begin_unsynced().await?;
        let connection = &mut transaction.connection;
        let free_pages = free_pages(connection).await?;
        let is_done = if free_pages < PAGES_PER_STEP && remove_rows(connection).await? {
            false
        } else {
            query(sqlx::AssertSqlSafe(format!(
                "PRAGMA incremental_vacuum({PAGES_PER_STEP})"
            )))
            .execute(&mut *connection)
            .await?;
            // Also stops if the database does not support incremental vacuum.
            self::free_pages(connection).await? == free_pages
        };
        transaction.commit().await?;
        Ok(!is_done)
    }
}

async fn free_pages(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    query_scalar("PRAGMA freelist_count")
        .fetch_one(connection)
        .await
}

/// Removes some rows of a deleted run. Returns false if there are no deleted runs.
async fn remove_rows(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    let run: Option<i64> = query_scalar("SELECT run FROM deleted_runs ORDER BY run LIMIT 1")
        .fetch_optional(&mut *connection)
        .await?;
    let Some(run) = run else {
        return Ok(false);
    };
    for sql in REMOVE_SOME {
        let removed = query(sql)
            .bind(run)
            .bind(ROWS_PER_STEP)
            .execute(&mut *connection)
            .await?;
        if removed.rows_affected() > 0 {
            return Ok(true);
        }
    }
    for sql in REMOVE_REST {
        query(sql).bind(run).execute(&mut *connection).await?;
    }
    Ok(true)
}
