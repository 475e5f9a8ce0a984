//! Runs.

pub mod http;
pub mod words;
