//! Runs.

pub mod filter;
pub mod http;
pub mod summary;
pub mod words;
