//! Inserts and reads rollups.

use crate::{
    rollups::{
        aggregate::Aggregate,
        builder::Rollup,
        chunk::{deflate, inflate},
    },
    store::Store,
};
use anyhow::Result;
use sqlx::SqliteConnection;
use std::ops::Range;

/// Rollups per page.
const PAGE: u32 = 512;

impl Store {
    /// Returns the first rollups in an index range, in order and with their indexes. Returns none
    /// at the end.
    pub(crate) async fn rollups(
        &self,
        run: u64,
        windows: u32,
        indexes: Range<u64>,
    ) -> Result<Vec<(u64, Aggregate)>> {
        let rows: Vec<(u64, Vec<u8>)> = sqlx::query_as(
            "SELECT idx, data FROM rollups WHERE run = ? AND windows = ? AND idx >= ? AND idx < ? ORDER BY idx LIMIT ?",
        )
        .bind(run.cast_signed())
        .bind(windows)
        .bind(indexes.start.cast_signed())
        .bind(indexes.end.cast_signed())
        .bind(PAGE)
        .fetch_all(&self.readers)
        .await?;
        let rollups = rows.into_iter();
        rollups
            .map(|(index, data)| Ok((index, inflate(&data)?)))
            .collect()
    }
}

pub(super) async fn insert(
    connection: &mut SqliteConnection,
    run: u64,
    rollups: &[Rollup],
) -> Result<()> {
    for rollup in rollups {
        sqlx::query("INSERT INTO rollups (run, windows, idx, data) VALUES (?, ?, ?, ?)")
            .bind(run.cast_signed())
            .bind(rollup.windows)
            .bind(rollup.index.cast_signed())
            .bind(deflate(&rollup.aggregate)?)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
