//! The plan of a run: resolved jobs, phases, cost and problems. A dry run shows it; the run
//! executes it.

pub mod job;
pub mod target;
pub mod window;

use crate::{finding::Finding, phase::Phase, plan::job::ResolvedJob, problem::Problem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct Plan {
    /// Empty if a job could not be resolved.
    pub jobs: Vec<ResolvedJob>,
    /// Sampling interval in ms.
    pub sample_ms: u32,
    pub phases: Vec<PlannedPhase>,
    pub estimate: Estimate,
    /// What the run measures, in one sentence.
    pub measures: String,
    pub findings: Vec<Finding>,
    /// Empty if the run can start.
    pub problems: Vec<Problem>,
}

impl Plan {
    /// Plan of a run that could not be parsed.
    pub fn rejected(problems: Vec<Problem>) -> Self {
        Self {
            problems,
            ..Self::default()
        }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PlannedPhase {
    pub phase: Phase,
    /// Estimated duration in seconds; null if unknown.
    pub seconds: Option<f64>,
    /// Null if the phase does not write.
    pub write_bytes: Option<u64>,
}

/// Cost of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct Estimate {
    /// Total duration; null if the size ends the run.
    pub seconds: Option<f64>,
    /// Why `seconds` is null or only a bound.
    pub seconds_note: Option<String>,
    /// Bytes written by layout.
    pub layout_bytes: u64,
    /// Upper bound of bytes written by the measurement; null if only time limits it.
    pub measure_write_bytes: Option<u64>,
    /// Memory of the I/O buffers in bytes.
    pub buffer_bytes: u64,
}
