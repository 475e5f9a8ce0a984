//! Decides which runs start, and how runs change status. Pure.

pub(crate) mod locks;
pub(crate) mod outcome;
pub(crate) mod queue;
pub(crate) mod run_states;
