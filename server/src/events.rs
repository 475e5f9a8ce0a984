//! TODO

pub(crate) mod buffer;
pub(crate) mod journal;
pub(crate) mod subscription;
