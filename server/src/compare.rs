//! Runs side by side.

pub mod http;
pub mod words;
