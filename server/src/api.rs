//! The HTTP interface: routes, extractors, problem responses, authentication, streams, embedded pages.

pub(crate) mod app;
pub(crate) mod assets;
pub(crate) mod auth;
pub(crate) mod compare;
pub(crate) mod extract;
pub(crate) mod flame;
pub(crate) mod hosts;
pub(crate) mod metrics;
pub(crate) mod requests;
pub mod routes;
pub(crate) mod runs;
pub(crate) mod stream;
pub(crate) mod studies;
