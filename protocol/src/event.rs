//! The event stream of a run, one JSON object per line. The server stores it, the browser
//! aggregates it, and tests use recorded streams as fixtures. `docs/protocol.md` has an example of
//! each event.
//!
//! Times are milliseconds since the start of the run; counts of a sample are those of its window.

use crate::{
    host::HostFacts,
    phase::PhaseChange,
    plan::job::ResolvedJob,
    result::{Failure, RunResult},
    sample::Sample,
    status::StatusChange,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Event {
    /// Sequence number within the run, from 0, without gaps. The server renumbers the events of the
    /// runner.
    pub seq: u64,
    /// Milliseconds since the start of the run; 0 before it.
    pub t_ms: f64,
    /// Increases when a crash of the server may have lost events that were sent but not stored. An
    /// event with a higher epoch replaces all earlier ones with the same or a higher number. Absent
    /// if 0, which it is until then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: u32,
    #[serde(flatten)]
    pub body: EventBody,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(epoch: &u32) -> bool {
    *epoch == 0
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// Status change; sent only by the server.
    Status(StatusChange),
    /// The runner accepted the jobs.
    Accepted(Box<Accepted>),
    /// Start, progress or end of a phase.
    Phase(PhaseChange),
    /// Counts of one sampling window.
    Sample(Box<Sample>),
    /// The result; the last event of a successful run.
    Report(Box<RunResult>),
    /// The run ended without a result.
    Failed(Failure),
}

/// Jobs and host of a run.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Accepted {
    /// Start of the run, in milliseconds since 1970 UTC.
    pub at_ms: u64,
    pub jobs: Vec<ResolvedJob>,
    pub host: HostFacts,
    /// Sampling interval in ms.
    pub sample_ms: u32,
    /// Planned length of the measured window; null if the size ends it.
    pub measure_ms: Option<u64>,
    /// Kernel names of the block devices of the targets.
    pub devices: Vec<String>,
    /// Counters missing from all samples, with the reason.
    pub absent: BTreeMap<String, String>,
}
