//! The state of a series relative to its baseline. It is computed from the runs, not stored.

use crate::{
    error::Error,
    query::groups::{self, Request},
    runs::{Runs, state_cache::CachedState},
    store::{
        baselines::{SeriesKey, StoredBaseline},
        trends::SeriesExtent,
    },
};
use leadline_compare::{
    group::{BASELINE_LABEL, NEWEST_GROUP_LABEL},
    trend::{
        points::{SeriesRun, points},
        state::{newest_group, state_from_comparison, state_without_comparison},
    },
};
use leadline_protocol::trend::{Baseline, SeriesState, TrendState};

/// Maximum number of runs to read, newest first. A group contains up to 50 runs, and the baseline
/// may be old.
pub(super) const MAX_SERIES_RUNS: u32 = 20_000;

impl Runs {
    /// Returns the baseline and the state of a series.
    pub(super) async fn baseline_state(
        &self,
        series: &SeriesKey,
        extent: SeriesExtent,
    ) -> Result<Option<(Baseline, SeriesState)>, Error> {
        let Some(stored) = self.store.baseline(series).await? else {
            return Ok(None);
        };
        let existing = self.store.existing_runs(&stored.runs).await?;
        let baseline = Baseline {
            deleted_runs: (stored.runs.iter().copied())
                .filter(|run| !existing.contains(run))
                .collect(),
            runs: existing,
            threshold_percent: stored.threshold_percent,
            pinned_at_ms: stored.pinned_at_ms,
        };
        let thresholds = self.store.settings().await?.thresholds;
        let key = (extent, &stored, &thresholds);
        if let Some(state) = self.trend_states.get(series, key) {
            return Ok(Some((baseline, state)));
        }
        let state = self.compute_state(series, &stored, &baseline).await?;
        let cached = CachedState {
            extent,
            baseline: stored,
            thresholds,
            state: state.clone(),
        };
        self.trend_states.insert(series, cached);
        Ok(Some((baseline, state)))
    }

    async fn compute_state(
        &self,
        series: &SeriesKey,
        stored: &StoredBaseline,
        baseline: &Baseline,
    ) -> Result<SeriesState, Error> {
        if stored.is_damaged {
            let reason = "The stored baseline does not match its checksum. Pin it again, or restore the database from a backup.";
            return Ok(state_without_comparison(TrendState::NotComparable, reason));
        }
        if baseline.runs.is_empty() {
            let reason = "All runs in the baseline have been deleted. Pin another group.";
            return Ok(state_without_comparison(TrendState::NotComparable, reason));
        }
        let runs = self.store.series_runs(series, MAX_SERIES_RUNS).await?;
        let newest = match newest_runs(&runs, &stored.runs) {
            Ok(newest) => newest,
            Err(state) => return Ok(state),
        };
        let request = Request {
            groups: vec![
                groups::select_labeled(BASELINE_LABEL, baseline.runs.clone()),
                groups::select_labeled(NEWEST_GROUP_LABEL, newest.clone()),
            ],
            baseline: 0,
            threshold: stored.threshold_percent,
        };
        let mut state = match self.compare(request).await {
            Ok(comparison) => state_from_comparison(&comparison.assessment, newest),
            // The result is damaged, or the run has been deleted since.
            Err(error @ (Error::Conflict { .. } | Error::NotFound { .. })) => {
                state_without_comparison(TrendState::NotComparable, error.to_string())
            }
            Err(error) => return Err(error),
        };
        if !baseline.deleted_runs.is_empty() {
            state.reason += &format!(
                " {} of {} runs in the baseline have been deleted.",
                baseline.deleted_runs.len(),
                stored.runs.len()
            );
        }
        Ok(state)
    }
}

fn newest_runs(runs: &[SeriesRun], baseline: &[u64]) -> Result<Vec<u64>, SeriesState> {
    newest_group(&points(runs), baseline)
}
