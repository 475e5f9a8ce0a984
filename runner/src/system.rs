//! TODO

pub(crate) mod buffer;
pub(crate) mod clock;
pub(crate) mod guard;
pub mod host;
pub mod probe;
pub mod target;
