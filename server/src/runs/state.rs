//! Mutable state of the scheduler, and the life cycle of the server.

use crate::{events::buffer::EventBuffer, scheduler::queue::Queue};
use std::{collections::HashMap, sync::Arc};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ServerPhase {
    /// Runs are accepted and started.
    Open,
    /// No run is accepted or started; active runs are stopped.
    Stopping,
    /// Streams are closed.
    Closed,
}

pub(crate) struct SchedulerState {
    pub queue: Queue,
    /// Queued and running runs.
    pub active_runs: HashMap<u64, Arc<EventBuffer>>,
    /// No run starts until the runners of the previous server have exited and leftover files are
    /// removed.
    pub paused: bool,
}
