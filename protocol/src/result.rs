//! Outcome of a run: a result, or the reason that there is none.

use crate::{finding::Finding, problem::Problem, report::Report, verdict::Verdicts};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RunResult {
    pub report: Report,
    pub verdict: Verdicts,
    pub findings: Vec<Finding>,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Failure {
    /// 1 error, 2 invalid job, 3 guard, 5 environment, 130 and 143 signals.
    pub exit_code: u8,
    /// Not empty.
    pub problems: Vec<Problem>,
}
