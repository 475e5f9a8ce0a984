//! Operations on series and their baselines.

use crate::{
    clock::now_ms,
    error::Error,
    query::{page::check_page, trend},
    runs::{Runs, run_detached, trend_state::MAX_SERIES_RUNS},
    store::{
        baselines::{SeriesKey, StoredBaseline},
        trends::SeriesExtent,
    },
};
use leadline_compare::MAX_RUNS;
use leadline_protocol::{
    limits::{MAX_PAGE, THRESHOLDS},
    status::RunStatus,
    trend::{BaselineRequest, Trend, TrendList, TrendListQuery, TrendQuery, TrendSeries},
};

const DEFAULT_LIMIT: u32 = 50;
/// Limits the size of `/metrics`, which contains the state of each baseline.
const MAX_BASELINES: u32 = 200;

impl Runs {
    pub(crate) async fn trends(&self, query: &TrendListQuery) -> Result<TrendList, Error> {
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        check_page(limit, MAX_PAGE, query.cursor)?;
        let pinned = query.pinned.unwrap_or_default();
        let (mut found, total) = self
            .store
            .series_list(pinned, query.cursor, limit + 1)
            .await?;
        let has_more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next_cursor = found.last().filter(|_| has_more);
        let next_cursor = next_cursor.map(|(_, extent)| extent.newest);
        let mut series = Vec::with_capacity(found.len());
        for (key, extent) in found {
            // A run may have been deleted since.
            series.extend(self.series(key, extent).await?);
        }
        Ok(TrendList {
            series,
            next_cursor,
            total,
            pending_runs: self.store.runs_without_fingerprints().await?,
        })
    }

    /// All series with a baseline, in the order in which they were pinned.
    pub(crate) async fn pinned_trends(&self) -> Result<Vec<TrendSeries>, Error> {
        let mut pinned = Vec::new();
        for key in self.store.pinned_series().await? {
            let extent = self.store.series_extent(&key).await?;
            pinned.extend(self.series(key, extent).await?);
        }
        Ok(pinned)
    }

    pub(crate) async fn trend(&self, key: SeriesKey, query: TrendQuery) -> Result<Trend, Error> {
        check_threshold("threshold", query.threshold)?;
        let extent = self.store.series_extent(&key).await?;
        let (runs, hosts) = tokio::try_join!(
            self.store.series_runs(&key, MAX_SERIES_RUNS),
            self.store.series_hosts(&key),
        )?;
        let series = self.series(key, extent).await?;
        let input = trend::Input {
            series: series.ok_or_else(series_not_found)?,
            runs,
            hosts,
        };
        let thresholds = self.store.settings().await?.thresholds;
        let trend = tokio::task::spawn_blocking(move || trend::trend(input, &query, &thresholds));
        let trend = trend.await.map_err(anyhow::Error::from)?;
        trend.map_err(|problem| Error::Rejected(vec![problem]))
    }

    /// `None` if no run has ended, or if the newest one has been deleted since.
    async fn series(
        &self,
        key: SeriesKey,
        extent: SeriesExtent,
    ) -> Result<Option<TrendSeries>, Error> {
        let Some(newest_run) = self.store.summary(extent.newest).await? else {
            return Ok(None);
        };
        let (baseline, state) = self.baseline_state(&key, extent).await?.unzip();
        Ok(Some(TrendSeries {
            hostname: self.store.hostname(extent.newest).await?,
            runs: extent.runs,
            newest_run,
            baseline,
            state,
            job_fingerprint: key.job_fingerprint,
            machine_fingerprint: key.machine_fingerprint,
        }))
    }

    /// Replaces the baseline of a series.
    pub(crate) async fn pin(
        &self,
        key: SeriesKey,
        request: BaselineRequest,
    ) -> Result<TrendSeries, Error> {
        check_threshold("threshold_percent", request.threshold_percent)?;
        let extent = self.store.series_extent(&key).await?;
        if extent.runs == 0 {
            return Err(series_not_found());
        }
        let baseline = StoredBaseline {
            runs: self.check_baseline(&key, request.runs).await?,
            threshold_percent: request.threshold_percent,
            pinned_at_ms: now_ms(),
            is_damaged: false,
        };
        let (store, stored_key) = (self.store.clone(), key.clone());
        let stored = run_detached(async move {
            let stored = store.set_baseline(&stored_key, &baseline, MAX_BASELINES);
            Ok(stored.await?)
        });
        if !stored.await? {
            return Err(Error::Conflict {
                code: "too_many_baselines",
                detail: format!(
                    "The limit of {MAX_BASELINES} baselines has been reached. Unpin one first."
                ),
            });
        }
        let series = self.series(key, extent).await?;
        let series = series.ok_or_else(series_not_found)?;
        self.store_trend_state(&series).await?;
        Ok(series)
    }

    /// Returns the runs in order, without duplicates.
    async fn check_baseline(&self, key: &SeriesKey, mut runs: Vec<u64>) -> Result<Vec<u64>, Error> {
        let invalid = |detail: String| {
            let remedy =
                format!("Use 1 to {MAX_RUNS} complete runs from the series, all on one host.");
            Error::invalid("bad_value", "runs", detail, remedy)
        };
        runs.sort_unstable();
        runs.dedup();
        if runs.is_empty() || runs.len() > MAX_RUNS {
            return Err(invalid(format!(
                "The baseline contains {} runs.",
                runs.len()
            )));
        }
        let mut host = None;
        for number in &runs {
            let summary = self.store.summary(*number).await?;
            let run = summary.ok_or_else(|| invalid(format!("Run #{number} does not exist.")))?;
            if run.damaged {
                return Err(invalid(format!("The result of run #{number} is damaged.")));
            }
            if run.job_fingerprint.as_ref() != Some(&key.job_fingerprint)
                || run.machine_fingerprint.as_ref() != Some(&key.machine_fingerprint)
            {
                let detail = format!("Run #{number} does not belong to this series.");
                return Err(invalid(detail));
            }
            if run.status != RunStatus::Done {
                let status = run.status.as_str();
                return Err(invalid(format!(
                    "Run #{number} is not complete ({status})."
                )));
            }
            if *host.get_or_insert_with(|| run.host_fingerprint.clone()) != run.host_fingerprint {
                let detail = format!(
                    "Run #{number} was measured on a different host than run #{}.",
                    runs[0]
                );
                return Err(invalid(detail));
            }
        }
        Ok(runs)
    }

    pub(crate) async fn unpin(&self, key: SeriesKey) -> Result<(), Error> {
        let (store, deleted_key) = (self.store.clone(), key.clone());
        let deleted = run_detached(async move { Ok(store.delete_baseline(&deleted_key).await?) });
        if !deleted.await? {
            return Err(Error::NotFound {
                what: "baseline of this series".into(),
            });
        }
        self.trend_states.remove(&key);
        Ok(())
    }
}

fn series_not_found() -> Error {
    Error::NotFound {
        what: "series with these fingerprints".into(),
    }
}

fn check_threshold(field: &str, threshold: Option<f64>) -> Result<(), Error> {
    if threshold.is_none_or(|percent| THRESHOLDS.contains(&percent)) {
        return Ok(());
    }
    Err(Error::invalid(
        "bad_value",
        field,
        format!("{field} must be between 0.01 and 1000 %."),
        "For example: 2.",
    ))
}
