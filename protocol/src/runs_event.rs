//! Messages on the `/events` WebSocket.

use crate::{run::RunSummary, study::summary::StudySummary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A change to the lists of runs and studies.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunsEvent {
    /// New or changed run.
    Run { run: Box<RunSummary> },
    /// A new study, or a status change of one of its runs.
    Study { study: Box<StudySummary> },
    /// A run was deleted.
    Deleted { number: u64 },
    /// A study and its runs were deleted.
    StudyDeleted { number: u64 },
    /// The annotations of a run have changed.
    Annotations { run: u64 },
    /// Number of active and queued runs. Also sent after the first heartbeat.
    Queue { running: u64, queued: u64 },
    /// The database has stopped or resumed accepting writes. Also sent after the first `queue`.
    /// Both fields are null if writes are accepted. Otherwise, active runs continue, and new runs
    /// are rejected with this code.
    Store {
        code: Option<String>,
        /// What is wrong and how to fix it.
        detail: Option<String>,
    },
    /// The connection is alive. Sent first, then at every interval, including on run streams.
    Heartbeat { interval_ms: u64 },
}
