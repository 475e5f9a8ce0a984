//! State shared by all handlers.

use crate::{
    api::{auth::Auth, streams::send_socket::Heartbeat},
    runs::Runs,
    supervisor::host_cache::HostCache,
};
use axum::extract::FromRef;
use metrics_exporter_prometheus::PrometheusHandle;

/// Handlers extract the fields they need with `State`.
#[derive(Clone, FromRef)]
pub(crate) struct AppState {
    pub runs: Runs,
    pub hosts: HostCache,
    pub heartbeat: Heartbeat,
    pub auth: Auth,
    pub metrics: PrometheusHandle,
}
