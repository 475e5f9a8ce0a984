//! States of series, cached until their runs or their baselines change.

use crate::store::{
    baselines::{SeriesKey, StoredBaseline},
    trends::SeriesExtent,
};
use leadline_protocol::trend::SeriesState;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

#[derive(Default)]
pub(super) struct StateCache(Mutex<HashMap<SeriesKey, CachedState>>);

pub(super) struct CachedState {
    pub extent: SeriesExtent,
    pub baseline: StoredBaseline,
    pub state: SeriesState,
}

impl StateCache {
    pub(super) fn get(
        &self,
        series: &SeriesKey,
        extent: SeriesExtent,
        baseline: &StoredBaseline,
    ) -> Option<SeriesState> {
        let states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = states.get(series)?;
        let is_current = cached.extent == extent && cached.baseline == *baseline;
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
