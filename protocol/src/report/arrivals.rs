//! Arrivals of a job with `rate_iops`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The standard deviation of a Poisson count is its square root. Growth by more than this number of
/// standard deviations is significant.
pub const SIGNIFICANT: f64 = 2.0;
/// Minimum number of quarters of the window in which the backlog must grow for its growth to count
/// as continuous.
const MIN_RISES: usize = 3;

/// I/Os that were due according to the arrival schedule.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ArrivalReport {
    /// Arrivals in the measured window. The number of completed I/Os is this number minus the
    /// backlog growth.
    pub due: u64,
    /// Due I/Os that were not complete, submitted or not: at the start of the window and at its
    /// quarters.
    pub backlog: Vec<u64>,
    /// Why the job ended early; null if it did not.
    #[serde(default)]
    pub overload: Option<Overload>,
}

/// The period after which a job was ended as overloaded.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Overload {
    /// Time since the start of the measured window.
    pub after_ms: u64,
    /// Length of the period.
    pub period_ms: u64,
    /// The limit that the backlog exceeded in the whole period.
    pub limit: u64,
    pub backlog_at_start: u64,
    pub backlog_at_end: u64,
    /// Arrivals in the period.
    pub due: u64,
    /// Completed I/Os in the period.
    pub completed: u64,
}

/// Growth of a backlog over a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Growth {
    /// Within random variation.
    Insignificant,
    /// It grows until the end.
    Continuous,
    /// It grew at the start or in jumps.
    Other,
}

/// The growth of a backlog over a window with `due` arrivals. `backlog`: values at the start and at
/// the quarters of the window. `None` if the quarters are missing.
pub fn growth(due: u64, backlog: &[u64]) -> Option<(i64, Growth)> {
    let [first, quarter, .., last] = *backlog else {
        return None;
    };
    let growth = last.cast_signed() - first.cast_signed();
    if growth as f64 <= SIGNIFICANT * (due as f64).sqrt() {
        return Some((growth, Growth::Insignificant));
    }
    let rises = backlog.windows(2).filter(|pair| pair[1] > pair[0]);
    // Growth mostly in the first quarter comes from filling the pipeline, not from an overload.
    let late = last.cast_signed() - quarter.cast_signed();
    let is_continuous = rises.count() >= MIN_RISES && 2 * late >= growth;
    let shape = if is_continuous {
        Growth::Continuous
    } else {
        Growth::Other
    };
    Some((growth, shape))
}
