//! Starts and supervises runner processes. No other module starts them.

pub(crate) mod dispatch;
mod failure;
pub(crate) mod host_cache;
mod memory_kills;
pub(crate) mod process;
pub(crate) mod recovery;
pub(crate) mod runner;
pub(crate) mod runner_lock;
pub(crate) mod supervise;
