//! Leadline's server: queues runs, keeps everything they say, and tells it live.
//!
//! `serve` is the way in. Rooms: `runs` (everything about runs), `hosts`, `compare` and `flame` (pure), `store` (the only one that
//! knows SQL), `auth`, `routes`, `metrics`, `assets`, `config`.
#![forbid(unsafe_code)]

mod assets;
mod auth;
pub mod compare;
pub mod config;
pub mod error;
mod extract;
pub mod flame;
pub mod hosts;
mod listen;
pub mod log;
mod metrics;
pub mod routes;
pub mod runs;
pub mod serve;
pub mod store;

use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::FromRef;
use metrics_exporter_prometheus::PrometheusHandle;

/// What handlers share; each takes the part it needs.
#[derive(Clone, FromRef)]
pub struct App {
    runs: runs::Runs,
    runner: runs::launch::Runner,
    auth: auth::Auth,
    metrics: PrometheusHandle,
}

/// Now, in milliseconds since 1970 UTC.
fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}
