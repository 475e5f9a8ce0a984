//! TODO

pub(crate) mod process;
pub(crate) mod recovery;
pub(crate) mod runner_lock;
pub(crate) mod supervise;
