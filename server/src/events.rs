//! A run's event journal, the buffer of its latest events, and subscriptions to its events.

pub(crate) mod buffer;
pub(crate) mod journal;
mod recorder;
pub(crate) mod replay;
pub(crate) mod spool;
pub(crate) mod subscription;
