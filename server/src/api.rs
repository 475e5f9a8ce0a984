//! HTTP interface.

mod annotations;
mod assets;
pub(crate) mod auth;
mod compare;
mod docs;
mod export;
mod extract;
mod flame;
mod foreign_results;
#[cfg(any(fuzzing, test))]
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod health;
mod hosts;
mod idempotency;
mod import;
pub(crate) mod metrics;
mod openapi;
mod problem;
mod query_string;
pub(crate) mod requests;
pub mod routes;
mod runs;
mod saved_study;
mod schedule_requests;
mod schedules;
mod settings;
pub(crate) mod state;
pub(crate) mod streams;
mod studies;
mod trends;
mod webhook_requests;
mod webhooks;

/// Path prefix of all API endpoints.
const API: &str = "/api/v1";
