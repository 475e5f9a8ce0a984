//! State shared by all handlers.

use axum::extract::FromRef;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::api::auth::Auth;
use crate::runs::Runs;
use crate::supervisor::process::Runner;

/// State shared by all handlers; each handler extracts the part it needs.
#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) runs: Runs,
    pub(crate) runner: Runner,
    pub(crate) auth: Auth,
    pub(crate) metrics: PrometheusHandle,
}
