//! Formats shares as percentages.

/// Shares below this value are shown as `under 0.1 %`; errors below it are not shown.
pub(crate) const MIN_SHOWN_SHARE: f64 = 0.000_5;

/// `share`: 0 to 1.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < MIN_SHOWN_SHARE {
        return "under 0.1 %".into();
    }
    format!("{:.1} %", share * 100.0)
}
