//! Comparison over HTTP.

use axum::Json;
use axum::extract::State;

use super::words::{CompareQuery, Comparison};
use crate::App;
use crate::error::{ApiError, Problems};

/// 2 to 8 runs side by side.
#[utoipa::path(get, path = "/compare", tag = "compare", params(CompareQuery), responses((status = 200, body = Comparison), Problems))]
pub async fn compare_runs(State(_app): State<App>) -> Result<Json<Comparison>, ApiError> {
    Err(ApiError::NotBuilt { what: "This call", remedy: "" })
}
