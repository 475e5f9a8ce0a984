use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A part of a run with a purpose of its own.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// May it be done at all?
    Guard,
    /// Files are created and written.
    Layout,
    /// All caches of the host are dropped, as asked.
    DropCaches,
    /// The target's pages leave the page cache.
    Invalidate,
    /// The target is read into the page cache.
    PreRead,
    /// Work before the measurement, left out of it.
    Ramp,
    /// The measurement.
    Measure,
    /// Writes reach the device.
    Flush,
    /// What was made is removed.
    CleanUp,
}

/// What a phase does.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseState {
    /// It begins.
    Begin,
    /// It goes on; `done_bytes` tells how far.
    Progress,
    /// It ended.
    End,
}

/// A phase began, went on or ended.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PhaseChange {
    /// Which phase.
    pub phase: Phase,
    /// What it does.
    pub state: PhaseState,
    /// Bytes done so far, where bytes are counted.
    pub done_bytes: Option<u64>,
    /// Bytes to do in all, where bytes are counted.
    pub total_bytes: Option<u64>,
    /// How long the phase is meant to take in milliseconds, where that is known.
    pub planned_ms: Option<u64>,
    /// What is being worked on, such as a path.
    pub note: Option<String>,
}
