//! Runs.

pub mod ask;
pub mod filter;
pub mod http;
pub mod queue;
pub mod series;
pub mod states;
pub mod summary;
pub mod words;
