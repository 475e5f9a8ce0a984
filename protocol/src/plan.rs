//! The plan of a run: resolved jobs, phases, cost and problems. A dry run displays it, and the run
//! executes it.

pub mod command_priorities;
mod data;
pub mod job;
pub mod target;
pub mod timing;
pub mod window;
pub mod workload;

use crate::{
    finding::Finding,
    import::Import,
    phase::Phase,
    plan::{job::ResolvedJob, target::TargetKind},
    problem::Problem,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct Plan {
    /// How the imported text was interpreted; null for jobs in JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<Import>,
    /// Empty if a job could not be resolved.
    pub jobs: Vec<ResolvedJob>,
    /// Sampling interval, in ms.
    pub sample_ms: u32,
    pub phases: Vec<PlannedPhase>,
    pub estimate: Estimate,
    /// What the run measures, in one sentence.
    pub measures: String,
    pub findings: Vec<Finding>,
    /// Targets with data that the run would overwrite. Each must be confirmed.
    #[serde(default)]
    pub confirmations: Vec<Confirmation>,
    /// Empty if the run can start.
    pub problems: Vec<Problem>,
}

/// A target that is overwritten only after a user confirms it, as `TEXT@CODE` in `confirm`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Confirmation {
    pub path: String,
    /// `file` or `device`.
    pub kind: TargetKind,
    /// Stable ID of the device; null for files.
    pub identity: Option<String>,
    /// Text that the user must type: the serial number or kernel name of a device, or the name of a
    /// file.
    pub text: String,
    /// Contents that were detected on the target, such as `ext4 "photos", 812 GiB used`.
    pub contents: Vec<String>,
    /// Valid for 10 minutes, for these jobs, and only while the target is unchanged.
    pub code: String,
    /// Digest of the target's identity, size and contents, used by the process that planned the
    /// run.
    #[serde(skip)]
    pub state: String,
}

impl Plan {
    /// The plan of a run that could not be parsed.
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

/// Returns when the plan with this code was made, in minutes since boot. Accepts a code or a
/// confirmation, `TEXT@CODE`. A code is `MINUTE-DIGEST`, in hexadecimal digits.
pub fn planned_minute(confirmation: &str) -> Option<u64> {
    let (_, code) = confirmation.rsplit_once('@').unwrap_or(("", confirmation));
    u64::from_str_radix(code.split_once('-')?.0, 16).ok()
}

/// Cost of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct Estimate {
    /// Total duration; null if the run is limited by size.
    pub seconds: Option<f64>,
    /// Why `seconds` is null or only a bound.
    pub seconds_note: Option<String>,
    /// Bytes written during layout.
    pub layout_bytes: u64,
    /// Upper bound for bytes written during the measurement; null if it is limited only by time.
    pub measure_write_bytes: Option<u64>,
    /// Memory for the I/O buffers, in bytes.
    pub buffer_bytes: u64,
}
