//! Input to a procedure.

use crate::group::ComparedRun;
use leadline_protocol::status::RunStatus;

/// A run of a procedure. In slices, runs are in the order that the procedure defines.
#[derive(Clone, Debug)]
pub struct ProcedureRun<'a> {
    pub run: ComparedRun<'a>,
    /// Status of the failed or interrupted first attempt, if `run` is a retry.
    pub first_attempt: Option<RunStatus>,
}
