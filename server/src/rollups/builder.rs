//! Groups a run's samples into rollups as they arrive.

use crate::rollups::{LEVELS, aggregate::Aggregate};
use leadline_protocol::sample::Sample;
use serde::{Deserialize, Serialize};

/// A complete rollup.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Rollup {
    /// Length in sampling intervals.
    pub windows: u32,
    /// The rollup begins `index * windows * sample_ms` milliseconds after the start of the measured
    /// window.
    pub index: u64,
    pub aggregate: Aggregate,
}

/// Rollups are aligned to the start of the measured window. As in a series, a sample belongs to the
/// rollup that contains the midpoint of its window.
pub(crate) struct RollupBuilder {
    sample_ms: f64,
    /// Start of the measured window, relative to the start of the run.
    zero_ms: f64,
    open: [Open; LEVELS.len()],
}

#[derive(Default)]
struct Open {
    index: u64,
    aggregate: Aggregate,
}

impl RollupBuilder {
    pub(crate) fn new(sample_ms: u32, zero_ms: f64) -> Self {
        Self {
            sample_ms: sample_ms.into(),
            zero_ms,
            open: Default::default(),
        }
    }

    /// Adds a sample whose window ends at `t_ms`, relative to the start of the run. Returns the
    /// rollups that the sample completes.
    pub(crate) fn push(&mut self, t_ms: f64, sample: &Sample) -> Vec<Rollup> {
        let midpoint_ms = t_ms - sample.window_ms / 2.0 - self.zero_ms;
        let mut complete = Vec::new();
        if sample.window_ms <= 0.0 || midpoint_ms < 0.0 {
            return complete;
        }
        for (windows, open) in LEVELS.into_iter().zip(&mut self.open) {
            let index = (midpoint_ms / (f64::from(windows) * self.sample_ms)) as u64;
            if index != open.index {
                complete.extend(open.take(windows));
                open.index = index;
            }
            open.aggregate.add(sample);
        }
        complete
    }

    /// Returns the incomplete rollups at the end of the run.
    pub(crate) fn finish(&mut self) -> Vec<Rollup> {
        let open = LEVELS.into_iter().zip(&mut self.open);
        open.filter_map(|(windows, open)| open.take(windows))
            .collect()
    }
}

impl Open {
    fn take(&mut self, windows: u32) -> Option<Rollup> {
        let aggregate = std::mem::take(&mut self.aggregate);
        (!aggregate.is_empty()).then_some(Rollup {
            windows,
            index: self.index,
            aggregate,
        })
    }
}
