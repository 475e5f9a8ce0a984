//! Smallest changes that matter, by metric.

use std::collections::BTreeMap;

/// In percent.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// Threshold of metrics that are not in `by_metric`.
    pub default_percent: f64,
    /// Thresholds by metric name.
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
