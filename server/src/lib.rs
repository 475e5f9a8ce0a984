//! The Leadline server: queues runs, stores their events and streams them to browsers.
#![forbid(unsafe_code)]

pub mod api;
mod clock;
pub mod config;
mod error;
mod events;
mod fail_point;
mod lock_holder;
pub mod log;
mod query;
mod rollups;
mod runs;
mod scheduler;
mod schedules;
pub mod serve;
mod store;
mod studies;
mod supervisor;
mod webhooks;
