//! Status of a run.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

named_enum! {
    names: "snake_case";
    /// `queued → preparing → measuring → finishing → done | failed | cancelled | interrupted`
    #[derive(Hash, Ord, PartialOrd)]
    pub enum RunStatus {
        Queued,
        /// Guard, layout, caches, ramp.
        Preparing,
        /// Measured window.
        Measuring,
        /// Flush, cleanup, report.
        Finishing,
        Done,
        Failed,
        /// Cancelled by a user.
        Cancelled,
        /// The server or the host stopped.
        Interrupted,
    }
}

impl RunStatus {
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted
        )
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StatusChange {
    pub status: RunStatus,
    /// Unix time in milliseconds.
    pub at_ms: u64,
    /// Why the status changed, such as the error of a failed run.
    pub reason: Option<String>,
}
