//! State shared by all handlers.

use crate::{api::auth::Auth, runs::Runs, supervisor::runner::Runner};
use axum::extract::FromRef;
use metrics_exporter_prometheus::PrometheusHandle;

/// Handlers extract the fields they need with `State`.
#[derive(Clone, FromRef)]
pub(crate) struct AppState {
    pub runs: Runs,
    pub runner: Runner,
    pub auth: Auth,
    pub metrics: PrometheusHandle,
}
