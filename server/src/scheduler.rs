//! Decides which runs start and how their status changes. Pure.

pub(crate) mod locks;
pub(crate) mod outcome;
pub(crate) mod queue;
pub(crate) mod run_states;
