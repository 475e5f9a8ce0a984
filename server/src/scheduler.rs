//! TODO

pub(crate) mod locks;
pub(crate) mod queue;
pub(crate) mod state;
pub(crate) mod states;
