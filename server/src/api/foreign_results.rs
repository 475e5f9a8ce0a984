//! Imports results that were measured by other programs.

use crate::{
    api::{
        API,
        problem::{ApiError, ProblemResponses},
        query_string::Query,
        requests,
    },
    runs::{Runs, foreign::ImportOptions},
};
use axum::{
    Json,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use leadline_protocol::{query::ImportResultQuery, run::Run};
use serde_json::json;

/// Maximum size of a result in bytes. A `json+` result with 100 jobs is about 5 MB.
pub(crate) const MAX_RESULT: usize = 16 << 20;

/// Import a fio result as a finished run
///
/// The body is the output of `fio --output-format=json` or `json+`; other output around the JSON
/// document is ignored. Importing the same result again returns the run of the first import with
/// status 200.
#[utoipa::path(post, path = "/runs/import", tag = "runs",
    request_body(content = Object, description = "Unmodified output of fio"),
    params(ImportResultQuery),
    responses(
        (status = 201, body = Run, headers(("Location" = String, description = "Path of the run"))),
        (status = 200, body = Run, description = "The result is already stored"),
        (status = 413, description = "The body is too large"),
        ProblemResponses
    ))]
pub(crate) async fn import_result(
    State(runs): State<Runs>,
    Query(query): Query<ImportResultQuery>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let body = body.map_err(too_large_error)?;
    let tags = query.tags.as_deref().unwrap_or_default().split(',');
    let tags: Vec<&str> = tags.filter(|tag| !tag.trim().is_empty()).collect();
    let checked = requests::run_patch(json!({"name": query.name, "tags": tags}))?;
    let options = ImportOptions {
        name: checked.name.filter(|name| !name.is_empty()),
        tags: checked.tags.unwrap_or_default(),
        group: query.group,
    };
    let imported = runs.import_result(body.into(), options).await?;
    let status = if imported.replayed {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let run = imported.created;
    let location = format!("{API}/runs/{}", run.summary.number);
    Ok((status, [(header::LOCATION, location)], Json(run)).into_response())
}

fn too_large_error(rejection: BytesRejection) -> ApiError {
    if rejection.status() != StatusCode::PAYLOAD_TOO_LARGE {
        return rejection.into();
    }
    ApiError::Request {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        code: "too_large_error",
        detail: format!(
            "The body exceeds {MAX_RESULT} bytes. Run fio with --output-format=json, or with group_reporting."
        ),
    }
}
