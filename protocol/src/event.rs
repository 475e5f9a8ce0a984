//! The event stream of a run, with one JSON object per line. The server stores it, the browser
//! aggregates it, and tests use recorded streams as fixtures. `docs/protocol.md` has an example of
//! each event.
//!
//! Times are in milliseconds since the start of the run. The counts of a sample cover its window.

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
    /// Sequence number within the run, starting at 0, without gaps. The server renumbers runner
    /// events.
    pub seq: u64,
    /// Milliseconds since the start of the run; 0 for earlier events.
    pub t_ms: f64,
    /// Increases if a server crash may have lost events that were sent but not stored. An event
    /// with a higher epoch replaces all earlier events with the same or a higher sequence number.
    /// Absent if 0.
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
    /// Status change. Only the server sends it.
    Status(StatusChange),
    /// The runner accepted the jobs.
    Accepted(Box<Accepted>),
    /// Start, progress or end of a phase.
    Phase(PhaseChange),
    /// Counts of one sampling window.
    Sample(Box<Sample>),
    /// The result. It is the last event of a successful run.
    Report(Box<RunResult>),
    /// The run ended without a result.
    Failed(Failure),
}

/// The jobs and the host of a run.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Accepted {
    /// Start of the run, as a Unix time in milliseconds.
    pub at_ms: u64,
    pub jobs: Vec<ResolvedJob>,
    pub host: HostFacts,
    /// Sampling interval, in ms.
    pub sample_ms: u32,
    /// Planned length of the measured window; null if it is limited by size.
    pub measure_ms: Option<u64>,
    /// Kernel names of the targets' block devices.
    pub devices: Vec<String>,
    /// Counters that are missing from all samples, with the reason.
    pub absent: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn stored_times_survive_a_round_trip() {
        let line = r#"{"seq":1,"t_ms":1.8446744073004358e+19,"type":"failed","exit_code":2,"problems":[]}"#;
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}
