//! Reads compressed samples.

use crate::{
    rollups::chunk::{self, TimedSample},
    store::samples::SamplePosition,
};
use anyhow::Result;
use sqlx::{SqliteConnection, query_as};

/// Consecutive samples.
pub(super) struct Chunk {
    pub first_seq: u64,
    pub samples: Vec<TimedSample>,
}

impl Chunk {
    /// Returns the samples with their sequence numbers.
    pub(super) fn into_samples(self) -> impl Iterator<Item = (u64, TimedSample)> {
        (self.first_seq..).zip(self.samples)
    }
}

/// Returns the first chunk that contains samples at or after `seq`.
pub(super) async fn from_seq(
    connection: &mut SqliteConnection,
    run: u64,
    seq: u64,
) -> Result<Option<Chunk>> {
    let row = query_as(
        "SELECT first_seq, data FROM sample_chunks WHERE run = ? AND last_seq >= ? ORDER BY first_seq LIMIT 1",
    )
    .bind(run.cast_signed())
    .bind(i64::try_from(seq).unwrap_or(i64::MAX))
    .fetch_optional(connection);
    row.await?.map(decode).transpose()
}

/// Returns the first chunk that contains samples after a position.
pub(super) async fn after(
    connection: &mut SqliteConnection,
    run: u64,
    position: SamplePosition,
) -> Result<Option<Chunk>> {
    let row = query_as(
        "SELECT first_seq, data FROM sample_chunks WHERE run = ? AND (last_t_ms, last_seq) > (?, ?) ORDER BY first_seq LIMIT 1",
    )
    .bind(run.cast_signed())
    .bind(position.t_ms)
    .bind(position.seq.cast_signed())
    .fetch_optional(connection);
    row.await?.map(decode).transpose()
}

fn decode((first_seq, data): (u64, Vec<u8>)) -> Result<Chunk> {
    Ok(Chunk {
        first_seq,
        samples: chunk::decode(&data)?,
    })
}
