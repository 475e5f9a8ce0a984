//! Statistics for repeated runs. The sampling unit is the run: each value is the result of one run,
//! never of a window within a run. All comparisons are rank-based and exact for small samples,
//! because runs are few, and their results are skewed and often bimodal. Pure.

pub mod change_points;
pub mod comparison;
pub mod holm;
pub mod median;
pub mod paired;
pub mod sample_size;
pub mod sequential;
pub mod steady_state;
pub mod unpaired;

mod rank_distributions;

use serde::{Deserialize, Serialize};

/// Confidence level of all intervals, unless a function takes it as a parameter.
pub const CONFIDENCE: f64 = 0.95;

/// Larger than the rounding errors of summed probabilities. Some tails are exactly 2.5 %, such as
/// those of groups with 1 and 39 values.
const PROBABILITY_ERROR: f64 = 1e-12;

/// An estimate and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Confidence level of the interval, from 0 to 1. It is lower than required if there are too
    /// few values.
    pub confidence: f64,
}

impl Estimate {
    /// Whether there are enough values for an interval at the [`CONFIDENCE`] level.
    pub fn is_supported(&self) -> bool {
        self.is_supported_at(CONFIDENCE)
    }

    /// Whether there are enough values for an interval at this confidence level.
    pub fn is_supported_at(&self, confidence: f64) -> bool {
        self.confidence >= confidence - PROBABILITY_ERROR
    }

    /// Applies an increasing function to the estimate and both bounds.
    #[must_use]
    pub fn map(self, function: impl Fn(f64) -> f64) -> Self {
        Self {
            value: function(self.value),
            low: function(self.low),
            high: function(self.high),
            confidence: self.confidence,
        }
    }
}

/// Returns the shortest interval that excludes the same number of sorted candidates at each end and
/// has at least this confidence. If there are too few candidates, the interval spans all of them.
///
/// `cumulative[k]` is the probability that at most `k` candidates are on one side of the true
/// value. The estimate is the median of the candidates.
fn order_statistic_interval(sorted: &[f64], cumulative: &[f64], confidence: f64) -> Estimate {
    let tail = (1.0 - confidence) / 2.0 + PROBABILITY_ERROR;
    let is_excluded = |k: &usize| cumulative[*k] <= tail;
    let last = sorted.len() - 1;
    let outside = (0..=last / 2).take_while(is_excluded).last().unwrap_or(0);
    Estimate {
        value: median::of_sorted(sorted),
        low: sorted[outside],
        high: sorted[last - outside],
        confidence: 1.0 - 2.0 * cumulative[outside],
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}
