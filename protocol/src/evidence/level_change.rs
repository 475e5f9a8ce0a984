//! IOPS level changes within a run.

use crate::evidence::transition::Direction;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A lasting change in the mean IOPS of a direction.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LevelChange {
    /// In milliseconds since the start of the run.
    pub t_ms: f64,
    pub direction: Direction,
    /// Mean IOPS from the previous change, or the start of the measurement.
    pub before_iops: f64,
    /// Mean IOPS up to the next change, or the end.
    pub after_iops: f64,
}

impl LevelChange {
    /// Change in percent; `None` if the previous level is 0.
    pub fn percent(&self) -> Option<f64> {
        let ratio = self.after_iops / self.before_iops;
        ratio.is_finite().then_some((ratio - 1.0) * 100.0)
    }
}
