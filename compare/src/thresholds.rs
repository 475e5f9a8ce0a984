//! Smallest changes that matter, per metric.

use std::collections::BTreeMap;

/// Thresholds in percent.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// Applies to metrics that are not in `by_metric`.
    pub default_percent: f64,
    /// Keys are metric names.
    pub by_metric: BTreeMap<String, f64>,
}

impl Thresholds {
    pub fn of(&self, metric: &str) -> f64 {
        let own = self.by_metric.get(metric);
        own.copied().unwrap_or(self.default_percent)
    }
}

/// The same threshold for all metrics.
impl From<f64> for Thresholds {
    fn from(default_percent: f64) -> Self {
        Self {
            default_percent,
            by_metric: BTreeMap::new(),
        }
    }
}
