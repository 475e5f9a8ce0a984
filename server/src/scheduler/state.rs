use crate::events::buffer::Live;
use crate::scheduler::queue::Queue;
use std::collections::HashMap;
use std::sync::Arc;

/// What the server is up to.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    /// Runs are taken in and started.
    Open,
    /// Nothing new is started; what runs is stopped.
    Stopping,
    /// Listeners are sent away.
    Closed,
}

pub(crate) struct Board {
    pub(crate) queue: Queue,
    /// The runs that have not come to their end.
    pub(crate) lives: HashMap<u64, Arc<Live>>,
    /// Nothing starts: the runners of the last server may still be there, or what its studies left behind.
    pub(crate) held: bool,
}
