//! The event journal of a run, the buffer of its latest events, and subscriptions to both.

pub(crate) mod buffer;
pub(crate) mod journal;
pub(crate) mod subscription;
