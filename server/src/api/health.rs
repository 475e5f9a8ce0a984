//! Probes of a supervisor or load balancer. They require neither a token nor a known host.

use crate::runs::Runs;
use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`, or `unavailable`.
    status: &'static str,
    /// Version of the server.
    version: &'static str,
    /// Why runs cannot start now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    reasons: Vec<String>,
}

impl Health {
    fn new(reasons: Vec<String>) -> Self {
        Self {
            status: if reasons.is_empty() {
                "ok"
            } else {
                "unavailable"
            },
            version: env!("CARGO_PKG_VERSION"),
            reasons,
        }
    }
}

/// Get whether the server answers
#[utoipa::path(get, path = "/livez", tag = "server", security(()),
    responses((status = 200, body = Health)))]
pub(crate) async fn livez() -> Json<Health> {
    Json(Health::new(Vec::new()))
}

/// Get whether runs can start
///
/// The database can be written, and the runner program exists.
#[utoipa::path(get, path = "/readyz", tag = "server", security(()),
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(crate) async fn readyz(State(runs): State<Runs>) -> (StatusCode, Json<Health>) {
    let reasons = runs.why_not_ready().await;
    let status = if reasons.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(Health::new(reasons)))
}
