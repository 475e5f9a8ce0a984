//! Change points of a series.

use crate::{MAX_RUNS, trend::points::Point};
use leadline_protocol::{
    metrics::Better,
    trend::{TrendChange, TrendPoint},
};
use leadline_stats::change_points::{self, ChangePoint, Parameters};

/// Minimum number of points before and after a change, because a single outlier is not a new level.
const MIN_LENGTH: usize = 3;

/// Finds change points in the medians. `points` and `described` are the same points; those without
/// a median, or whose median is a lower bound, are skipped.
pub fn changes(
    points: &[Point],
    described: &[TrendPoint],
    better: Option<Better>,
    threshold_percent: f64,
) -> Vec<TrendChange> {
    let known = described.iter().enumerate().filter_map(|(index, point)| {
        let median = point.statistics.median.filter(|_| !point.at_least)?;
        Some((index, median))
    });
    let (indexes, medians): (Vec<usize>, Vec<f64>) = known.unzip();
    let parameters = Parameters {
        min_change: threshold_percent / 100.0,
        min_length: MIN_LENGTH,
        ..Parameters::default()
    };
    let found = change_points::find(&medians, &parameters);
    let starts = || std::iter::once(0).chain(found.iter().map(|change| change.index));
    let ends = found.iter().skip(1).map(|change| change.index);
    let ends = ends.chain(std::iter::once(medians.len()));
    let changes = found.iter().zip(starts().zip(ends));
    changes
        .map(|(change, (start, end))| {
            let before = indexes[start..change.index].iter().rev();
            let after = indexes[change.index..end].iter();
            TrendChange {
                point: indexes[change.index] as u64,
                percent: percent(change),
                is_better: better.map(|better| is_better(better, change)),
                p_value: change.p_value,
                mean_before: change.mean_before,
                mean_after: change.mean_after,
                runs_before: nearest_runs(points, described, before),
                runs_after: nearest_runs(points, described, after),
            }
        })
        .collect()
}

fn percent(change: &ChangePoint) -> Option<f64> {
    let ratio = change.mean_after / change.mean_before;
    ratio.is_finite().then_some((ratio - 1.0) * 100.0)
}

fn is_better(better: Better, change: &ChangePoint) -> bool {
    (change.mean_after > change.mean_before) == (better == Better::Higher)
}

/// The included runs of the nearest points on the same host. `nearest` must be ordered by distance
/// from the change. A group must not mix hosts.
fn nearest_runs<'i>(
    points: &[Point],
    described: &[TrendPoint],
    mut nearest: impl Iterator<Item = &'i usize> + Clone,
) -> Vec<u64> {
    let Some(first) = nearest.clone().next() else {
        return Vec::new();
    };
    let host = &points[*first].first().host_fingerprint;
    let mut runs: Vec<u64> = Vec::new();
    while let Some(index) = nearest.next()
        && points[*index].first().host_fingerprint == *host
        && (runs.is_empty() || runs.len() + described[*index].runs.len() <= MAX_RUNS)
    {
        runs.extend(&described[*index].runs);
    }
    runs.sort_unstable();
    runs
}
