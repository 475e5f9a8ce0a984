//! Runner processes. Only this module starts them.

pub(crate) mod dispatch;
pub(crate) mod host_cache;
pub(crate) mod process;
pub(crate) mod recovery;
pub(crate) mod runner;
pub(crate) mod runner_lock;
pub(crate) mod supervise;
