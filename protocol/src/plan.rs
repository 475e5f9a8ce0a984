pub mod resolved;

use crate::finding::Finding;
use crate::phase::Phase;
use crate::plan::resolved::ResolvedJob;
use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What would happen; the same for the dry run and the run.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Plan {
    /// The jobs as resolved; empty when one of them could not be.
    pub jobs: Vec<ResolvedJob>,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
    /// The phases to come, in order.
    pub phases: Vec<PlannedPhase>,
    /// How long it will take and what it will write.
    pub estimate: Estimate,
    /// What the number will tell, in one sentence.
    pub measures: String,
    /// What to mind.
    pub findings: Vec<Finding>,
    /// What is in the way; empty when the run may start.
    pub problems: Vec<Problem>,
}

impl Plan {
    /// The plan of a run that could not even be read.
    pub fn refused(problems: Vec<Problem>) -> Self {
        let estimate = Estimate {
            seconds: None,
            seconds_note: None,
            layout_bytes: 0,
            measure_write_bytes: None,
            buffer_bytes: 0,
        };
        Self {
            jobs: Vec::new(),
            sample_ms: 0,
            phases: Vec::new(),
            estimate,
            measures: String::new(),
            findings: Vec::new(),
            problems,
        }
    }
}

/// A phase to come.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PlannedPhase {
    /// Which.
    pub phase: Phase,
    /// How long it will take in seconds; null when that is not known before.
    pub seconds: Option<f64>,
    /// Bytes it will write, where it writes.
    pub write_bytes: Option<u64>,
}

/// What a run will cost.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Estimate {
    /// Seconds from start to report; null when size, not time, ends it.
    pub seconds: Option<f64>,
    /// Why `seconds` is null or only a bound.
    pub seconds_note: Option<String>,
    /// Bytes that laying out files writes.
    pub layout_bytes: u64,
    /// The most bytes that the measurement writes; null when only time bounds it.
    pub measure_write_bytes: Option<u64>,
    /// Memory for I/O buffers in bytes.
    pub buffer_bytes: u64,
}
