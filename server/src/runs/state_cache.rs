//! Cached trend states. An entry is valid until the runs, the baseline or the thresholds of its
//! series change.

use crate::store::{
    baselines::{SeriesKey, StoredBaseline},
    trends::SeriesExtent,
};
use leadline_protocol::trend::SeriesState;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

#[derive(Default)]
pub(super) struct StateCache(Mutex<HashMap<SeriesKey, CachedState>>);

pub(super) struct CachedState {
    pub extent: SeriesExtent,
    pub baseline: StoredBaseline,
    /// Thresholds from the settings.
    pub thresholds: BTreeMap<String, f64>,
    pub state: SeriesState,
}

impl StateCache {
    pub(super) fn get(
        &self,
        series: &SeriesKey,
        (extent, baseline, thresholds): (SeriesExtent, &StoredBaseline, &BTreeMap<String, f64>),
    ) -> Option<SeriesState> {
        let states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = states.get(series)?;
        let is_current = cached.extent == extent
            && cached.baseline == *baseline
            && cached.thresholds == *thresholds;
        is_current.then(|| cached.state.clone())
    }

    pub(super) fn insert(&self, series: &SeriesKey, state: CachedState) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.insert(series.clone(), state);
    }

    pub(super) fn remove(&self, series: &SeriesKey) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.remove(series);
    }
}
