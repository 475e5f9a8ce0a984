//! Arrivals of a job with `rate_iops`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// I/Os that were due according to the arrival schedule.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ArrivalReport {
    /// Arrivals in the measured window. The completed I/Os are these minus the growth of the
    /// backlog.
    pub due: u64,
    /// I/Os that were due and not complete, whether or not they had been submitted: at the start of
    /// the window and at its quarters.
    pub backlog: Vec<u64>,
}
