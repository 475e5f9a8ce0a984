//! Everything that leaves the process: one event a line. The stream is the spine of Leadline: the server journals it,
//! the browser folds it, a recorded stream is a test fixture. `docs/protocol.md` shows one line of each kind.
//!
//! Times are milliseconds since the run began on the host; counts of a sample are what happened inside its window.

use crate::host::HostFacts;
use crate::phase::PhaseChange;
use crate::plan::resolved::ResolvedJob;
use crate::result::Failure;
use crate::result::RunResult;
use crate::sample::Sample;
use crate::status::StatusChange;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// One event with its place in the list.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Event {
    /// Number in the list of its run, from 0, without gaps. The journal numbers anew what the runner numbered.
    pub seq: u64,
    /// Milliseconds since the run began on the host; 0 before it did.
    pub t_ms: f64,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// The server moved the run to another status. Never written by the runner.
    Status(StatusChange),
    /// The runner took the job: what will be done, and on what host.
    Accepted(Box<Accepted>),
    /// A phase began, went on or ended.
    Phase(PhaseChange),
    /// One window of counts at every layer.
    Sample(Box<Sample>),
    /// The one result; the last event of a run that measured something.
    Report(Box<RunResult>),
    /// The run ended without a result.
    Failed(Failure),
}

/// What will be done, on what host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Accepted {
    /// When the run began, in milliseconds since 1970 UTC.
    pub at_ms: u64,
    /// The jobs as resolved.
    pub jobs: Vec<ResolvedJob>,
    /// The host as found.
    pub host: HostFacts,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
    /// How long the measured window will last in milliseconds; null when size, not time, ends it.
    pub measure_ms: Option<u64>,
    /// Kernel names of the block devices under the targets, such as `vda`; empty where there is none.
    pub devices: Vec<String>,
    /// Counters that samples will lack, with the reason.
    pub absent: BTreeMap<String, String>,
}
