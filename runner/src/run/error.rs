//! Reasons that a run ends without a report.

use crate::load::worker::task::WorkerError;
use leadline_protocol::problem::Problem;

pub(crate) enum RunError {
    Failed(Problem),
    /// Stopped before the measurement started.
    Stopped,
}

impl From<Problem> for RunError {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl From<WorkerError> for RunError {
    fn from(WorkerError { action, error }: WorkerError) -> Self {
        let problem = Problem::environment(
            "engine_failed",
            "",
            format!("The system returned an error while {action}: {error}."),
            "Run leadline-runner doctor to check this host.",
        );
        Self::Failed(problem)
    }
}
