//! A run's time series, in buckets of whole sampling windows.

pub(crate) mod buckets;

use crate::{
    query::series::buckets::{Grid, SeriesBuilder},
    store::{Store, samples::SamplePosition},
};
use leadline_protocol::{query::SeriesQuery, series::Series};

pub(crate) const DEFAULT_POINTS: u32 = 600;

/// Minimum bucket length, in sampling windows, for which rollups are used. Reading the samples of
/// 600 shorter buckets, at most 6,000, takes about half a second.
const MIN_ROLLED_UP_WINDOWS: f64 = 10.0;

/// A run's time range and layout, determined before its samples are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub run: u64,
    pub sample_ms: u32,
    /// Start of the measured window, relative to the start of the run.
    zero_ms: f64,
    /// End of the last sample, relative to the start of the measured window.
    pub end_ms: f64,
    /// Whether the samples are compressed and therefore lack the histograms of individual windows.
    pub is_compacted: bool,
}

impl Extent {
    pub(crate) async fn read(store: &Store, run: u64, sample_ms: u32) -> anyhow::Result<Self> {
        let last_ms = store.last_sample_ms(run).await?.unwrap_or(0.0);
        // If there is no measured window, all samples get negative times.
        let zero_ms = store.measure_begin_ms(run).await?.unwrap_or(last_ms);
        Ok(Self {
            run,
            // Results of other programs have neither samples nor a sampling interval.
            sample_ms: sample_ms.max(1),
            zero_ms,
            end_ms: last_ms - zero_ms,
            is_compacted: store.is_compacted(run).await?,
        })
    }

    #[cfg(test)]
    pub(crate) fn of(run: u64, end_ms: f64, sample_ms: u32, is_compacted: bool) -> Self {
        Self {
            run,
            sample_ms,
            zero_ms: 0.0,
            end_ms,
            is_compacted,
        }
    }

    /// Minimum length, in sampling windows, of buckets built from rollups.
    pub(crate) fn min_rolled_up_windows(&self) -> f64 {
        if self.is_compacted {
            0.0
        } else {
            MIN_ROLLED_UP_WINDOWS
        }
    }
}

pub(crate) async fn load(
    store: &Store,
    run: u64,
    sample_ms: u32,
    query: &SeriesQuery,
    points: u32,
) -> anyhow::Result<Series> {
    let extent = Extent::read(store, run, sample_ms).await?;
    let from_ms = query.from_ms.unwrap_or(0.0);
    // The buckets end with the last sample of the run.
    let to_ms = query.to_ms.unwrap_or(f64::INFINITY);
    let to_ms = to_ms.min(extent.end_ms).max(from_ms);
    let shortest = extent.min_rolled_up_windows();
    let grid = Grid::new(from_ms, to_ms, points, extent.sample_ms, shortest);
    load_grid(
        store,
        &extent,
        grid,
        to_ms,
        query.latency_rows == Some(true),
    )
    .await
}

/// Reads the samples before `to_ms` page by page, so memory use does not depend on the length of
/// the run. Ranges without rollups (runs recorded before rollups existed, and the end of
/// interrupted or active runs) are read from the samples.
pub(crate) async fn load_grid(
    store: &Store,
    extent: &Extent,
    grid: Grid,
    to_ms: f64,
    with_latency_rows: bool,
) -> anyhow::Result<Series> {
    let &Extent {
        run,
        sample_ms,
        zero_ms,
        ..
    } = extent;
    let mut series = SeriesBuilder::new(run, grid, with_latency_rows);
    let mut next_ms = grid.from_ms;
    if let Some(windows) = grid.rollup {
        let rollup_ms = f64::from(windows) * f64::from(sample_ms);
        let mut next = (grid.from_ms / rollup_ms).round() as u64;
        let end = (to_ms / rollup_ms).ceil() as u64;
        loop {
            let rollups = store.rollups(run, windows, next..end).await?;
            let Some((last, _)) = rollups.last() else {
                break;
            };
            next = last + 1;
            for (index, rollup) in &rollups {
                series.push_rollup((*index as f64 + 0.5) * rollup_ms, rollup);
            }
            next_ms = next as f64 * rollup_ms;
        }
    }
    let mut position = SamplePosition {
        t_ms: zero_ms + next_ms,
        seq: 0,
    };
    // A sampling window belongs to the range that contains its midpoint, even if it ends later.
    let end_ms = zero_ms + to_ms + f64::from(sample_ms);
    loop {
        let samples = store.samples_after(run, position, end_ms).await?;
        let Some((last, _)) = samples.last() else {
            return Ok(series.finish());
        };
        position = *last;
        for (position, sample) in &samples {
            let midpoint_ms = position.t_ms - zero_ms - sample.window_ms / 2.0;
            if midpoint_ms >= next_ms {
                series.push(midpoint_ms, sample);
            }
        }
    }
}
