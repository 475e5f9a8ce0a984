//! Confidence level of a comparison.

use leadline_protocol::metrics::Metric;
use leadline_stats::CONFIDENCE;

/// The default is 95 %, with one correction for all metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Confidence level of intervals and verdicts, 0 to 1.
    pub confidence: f64,
    /// Metrics that decide when the study ends, if any. They are corrected as one family, and all
    /// other metrics as another.
    pub primary: Vec<String>,
    /// Why there are no verdicts yet; `None` if there are.
    pub pending: Option<String>,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            confidence: CONFIDENCE,
            primary: Vec::new(),
            pending: None,
        }
    }
}

impl Level {
    /// A sentence about the confidence level, if it is not 95 %.
    pub(crate) fn note(&self) -> Option<String> {
        (self.confidence != CONFIDENCE).then(|| {
            let confidence = confidence_text(self.confidence * 100.0);
            format!(
                "Intervals and verdicts use {confidence} instead of 95 %, because the study can end early."
            )
        })
    }

    pub(crate) fn is_primary(&self, metric: &Metric) -> bool {
        self.primary.iter().any(|name| name == metric.name)
    }
}

/// Formats a confidence level of 0.992 as `99.2 %`.
pub fn confidence_text(percent: f64) -> String {
    let digits = format!("{percent:.2}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} %")
}
