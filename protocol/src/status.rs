//! Status of a run.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// `queued → preparing → measuring → finishing → done | failed | cancelled | interrupted`
#[derive(
    Clone,
    Copy,
    Debug,
    Deserialize,
    EnumString,
    Eq,
    Hash,
    IntoStaticStr,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
    ToSchema,
    VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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

impl RunStatus {
    /// Name in JSON and in the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted
        )
    }
}

/// Status change of a run.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StatusChange {
    pub status: RunStatus,
    /// Milliseconds since 1970 UTC.
    pub at_ms: u64,
    /// Such as the error of a failed run.
    pub reason: Option<String>,
}
