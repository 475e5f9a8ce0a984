//! TODO

pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod filter;
pub(crate) mod flame;
pub(crate) mod runs;
pub(crate) mod series;
