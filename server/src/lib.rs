//! Leadline's server: queues runs, keeps everything they say, and tells it live.
#![forbid(unsafe_code)]

pub mod compare;
pub mod error;
pub mod hosts;
pub mod routes;
pub mod runs;
pub mod store;

/// What handlers share.
#[derive(Clone)]
pub struct App {}
