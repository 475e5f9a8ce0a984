//! Phases of a run, such as layout, ramp and measurement, and their progress.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

named_enum! {
    names: "snake_case";
    #[derive(Hash, Ord, PartialOrd)]
    pub enum Phase {
        /// Safety checks.
        Guard,
        /// Files are created and written.
        Layout,
        /// Waits until the devices are idle and little data is left to write back.
        IdleWait,
        /// All caches on the host are dropped.
        DropCaches,
        /// Pages of the targets are evicted.
        Invalidate,
        /// The targets are read into the page cache.
        PreRead,
        /// Warm-up, not measured.
        Ramp,
        Measure,
        /// Writes are flushed to the device.
        Flush,
        /// Written blocks are read back and checked.
        Verify,
        /// Temporary files are removed.
        CleanUp,
    }
}

/// Human-readable name, such as `pre-read`.
impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DropCaches => "drop caches",
            Self::PreRead => "pre-read",
            Self::CleanUp => "clean up",
            Self::IdleWait => "wait for idle devices",
            _ => self.as_str(),
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseState {
    Begin,
    Progress,
    End,
}

/// Start, progress or end of a phase.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PhaseChange {
    pub phase: Phase,
    pub state: PhaseState,
    /// Null if the phase does not count bytes.
    pub done_bytes: Option<u64>,
    /// Null if the phase does not count bytes.
    pub total_bytes: Option<u64>,
    /// Planned duration of the phase; null if unknown.
    pub planned_ms: Option<u64>,
    /// Current item, such as a path.
    pub note: Option<String>,
}
