use crate::finding::Finding;
use crate::problem::Problem;
use crate::report::Report;
use crate::verdict::Verdicts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The one result: what `leadline-runner run --json` prints, less the jobs and the host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RunResult {
    /// What was measured.
    pub report: Report,
    /// Where the I/O went.
    pub verdict: Verdicts,
    /// What a reader must know.
    pub findings: Vec<Finding>,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Failure {
    /// The exit code: 1 error, 2 invalid job, 3 guard, 5 environment, 130 and 143 signals.
    pub exit_code: u8,
    /// What was in the way; at least one.
    pub problems: Vec<Problem>,
}
