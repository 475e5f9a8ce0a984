//! Health checks for process supervisors and load balancers. They require neither a token nor an
//! allowed host name.

use crate::runs::Runs;
use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok` or `unavailable`.
    status: &'static str,
    /// Server version.
    version: &'static str,
    /// Why runs cannot currently start.
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

/// Check that the server responds
#[utoipa::path(get, path = "/livez", tag = "server", security(()),
    responses((status = 200, body = Health)))]
pub(crate) async fn livez() -> Json<Health> {
    Json(Health::new(Vec::new()))
}

/// Check whether runs can start
///
/// Runs can start if the database is writable and the runner program exists.
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
