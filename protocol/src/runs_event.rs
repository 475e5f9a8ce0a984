//! Messages of the `/events` socket.

use crate::{run::RunSummary, study::summary::StudySummary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A change in the lists of runs and studies.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunsEvent {
    /// New or changed run.
    Run { run: Box<RunSummary> },
    /// New study, or a status change of one of its runs.
    Study { study: Box<StudySummary> },
    /// A run was deleted.
    Deleted { number: u64 },
    /// Number of active and queued runs; sent first, after a heartbeat.
    Queue { running: u64, queued: u64 },
    /// The database stopped accepting writes, or accepts them again; also sent after the first `queue`. Both
    /// fields are null if it accepts them. Runs continue; new ones are rejected with this code.
    Store {
        code: Option<String>,
        /// What is wrong and how to fix it.
        detail: Option<String>,
    },
    /// The connection is alive. Sent first and at every interval, including on the sockets of runs.
    Heartbeat { interval_ms: u64 },
}
