use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a run stands. `queued → preparing → measuring → finishing → done | failed | cancelled | interrupted`.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Waits for its turn.
    Queued,
    /// Guard, layout, caches, ramp.
    Preparing,
    /// The measured window.
    Measuring,
    /// Flush, clean up, report.
    Finishing,
    /// Has its report.
    Done,
    /// Ended by an error.
    Failed,
    /// Ended by its owner.
    Cancelled,
    /// Ended because the server or the host went away.
    Interrupted,
}

impl RunStatus {
    /// Whether nothing can come after it.
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted
        )
    }

    /// The word that stands in JSON and in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Preparing => "preparing",
            Self::Measuring => "measuring",
            Self::Finishing => "finishing",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A run's move to another status.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StatusChange {
    /// Where it stands now.
    pub status: RunStatus,
    /// When, in milliseconds since 1970 UTC.
    pub at_ms: u64,
    /// Why, where there is something to say: the error of a failed run, who cancelled.
    pub reason: Option<String>,
}
