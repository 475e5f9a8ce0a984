//! Imports jobs written for other tools.

use crate::{
    api::{
        extract::JsonBody,
        problem::{ApiError, ProblemResponses},
        requests,
    },
    error::Error,
    runs::Runs,
};
use axum::{Json, extract::State};
use leadline_protocol::import::{Import, ImportRequest};

/// Read jobs from a fio job file, or from fio or diskspd commands
///
/// Nothing is run, and no file or environment variable is read. `document` is a `POST /runs` body
/// if it contains `jobs`, or a `POST /studies` body if it contains `steps`.
#[utoipa::path(post, path = "/import", tag = "runs", request_body = ImportRequest,
    responses((status = 200, body = Import), ProblemResponses))]
pub(crate) async fn import_jobs(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<Json<Import>, ApiError> {
    let request = requests::import_request(body.parse()?)?;
    let import = runs.runner.import(&request).await.map_err(Error::from)?;
    Ok(Json(import))
}
