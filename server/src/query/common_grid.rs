//! Time series buckets shared by all runs in a comparison. Pure.

use crate::{
    query::series::{Extent, buckets::Grid},
    rollups::LEVELS,
};
use leadline_protocol::problem::Problem;

/// One point per two pixels of a chart that takes up half the width of a large screen. A response
/// for eight groups with three bands each contains 21,600 values.
const MAX_POINTS: u32 = 300;
/// Maximum number of samples or rollups to read for all groups. If there are more, longer rollups
/// are used. Reading 6,000 samples takes half a second.
const MAX_READ: f64 = 12_000.0;
/// Maximum number of the longest rollups (20 s by default) to read for all groups: 46 days.
const MAX_LONGEST_READ: f64 = 200_000.0;

/// Buckets shared by all runs in a comparison, from the start of the measured window to the end of
/// the longest run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CommonGrid(Grid);

impl CommonGrid {
    /// # Errors
    /// The runs are too long to read at once.
    pub(crate) fn new(runs: &[&Extent]) -> Result<Self, Problem> {
        let sample_ms = runs.iter().map(|run| run.sample_ms).max().unwrap_or(1);
        let longest_ms = runs.iter().map(|run| run.end_ms).fold(0.0, f64::max);
        let total_ms: f64 = runs.iter().map(|run| run.end_ms.max(0.0)).sum();
        let length_ms = |windows: u32| f64::from(windows) * f64::from(sample_ms);
        let [short, long] = LEVELS;
        if total_ms / length_ms(long) > MAX_LONGEST_READ {
            return Err(too_long_problem(MAX_LONGEST_READ * length_ms(long)));
        }
        let levels = [1, short, long];
        let fits = |level: &u32| total_ms / length_ms(*level) <= MAX_READ;
        let level = levels.into_iter().find(fits).unwrap_or(long);
        let points = longest_ms / length_ms(level);
        // The longest rollups are used only if the buckets are at least as long, so round down.
        let points = if level == long {
            points.floor()
        } else {
            points.ceil()
        };
        let points = points.clamp(1.0, f64::from(MAX_POINTS)) as u32;
        let shortest = runs.iter().map(|run| run.min_rolled_up_windows());
        let shortest = shortest.fold(f64::INFINITY, f64::min);
        Ok(Self(Grid::new(
            0.0, longest_ms, points, sample_ms, shortest,
        )))
    }

    /// Returns the buckets for one run, built from its longest rollups that are not longer than a
    /// bucket. The midpoint of a sampling window determines its bucket, so runs may have different
    /// sampling intervals.
    pub(crate) fn for_run(&self, run: &Extent) -> Grid {
        let windows = self.0.bucket_ms / f64::from(run.sample_ms);
        let levels = LEVELS.into_iter().rev();
        Grid {
            rollup: self
                .0
                .rollup
                .and_then(|_| levels.clone().find(|level| f64::from(*level) <= windows)),
            ..self.0
        }
    }

    pub(crate) fn bucket_ms(&self) -> f64 {
        self.0.bucket_ms
    }

    /// Number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.0.buckets
    }

    pub(crate) fn end_ms(&self) -> f64 {
        self.0.buckets as f64 * self.0.bucket_ms
    }

    /// End of each bucket.
    pub(crate) fn ends_ms(&self) -> Vec<f64> {
        let end_ms = |bucket| bucket as f64 * self.0.bucket_ms;
        (1..=self.0.buckets).map(end_ms).collect()
    }
}

fn too_long_problem(limit_ms: f64) -> Problem {
    let days = limit_ms / 86_400_000.0;
    Problem::invalid(
        "too_long",
        "runs",
        format!("The runs last more than {days:.1} days in total."),
        "Compare fewer runs.",
    )
}

#[cfg(test)]
mod tests;
