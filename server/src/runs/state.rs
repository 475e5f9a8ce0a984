//! Mutable scheduler state, and the server's lifecycle phases.

use crate::{events::buffer::EventBuffer, scheduler::queue::Queue};
use std::{collections::HashMap, sync::Arc};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ServerPhase {
    /// Runs are accepted and started.
    Open,
    /// No runs are accepted or started; active runs are stopped.
    Stopping,
    /// Streams are closed.
    Closed,
}

pub(crate) struct SchedulerState {
    pub queue: Queue,
    /// Queued and running runs.
    pub active_runs: HashMap<u64, Arc<EventBuffer>>,
    /// True until the previous server's runners have exited and leftover files are removed. While
    /// paused, no run starts.
    pub paused: bool,
}
