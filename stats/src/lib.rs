//! Statistics of repeated runs. The unit is the run: a value is the result of one run, never of a
//! window of it. All methods are based on ranks and are exact for small samples, because runs are
//! few, and their results are skewed and often bimodal. Pure.

pub mod comparison;
pub mod holm;
pub mod median;
pub mod paired;
pub mod unpaired;

mod ranks;

/// Confidence of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Of the interval, 0 to 1; below [`CONFIDENCE`] if there are too few values.
    pub confidence: f64,
}

impl Estimate {
    /// Whether there are enough values for an interval with the required confidence.
    pub fn is_supported(&self) -> bool {
        self.confidence >= CONFIDENCE
    }

    /// Applies an increasing function to the estimate and the bounds.
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

/// The interval between the values that exclude `outside` of the sorted candidates at each end.
///
/// `cumulative[k]` is the probability that at most `k` candidates are on one side of the true
/// value. The estimate is the median of the candidates.
fn between(sorted: &[f64], cumulative: &[f64]) -> Estimate {
    let tail = (1.0 - CONFIDENCE) / 2.0;
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
