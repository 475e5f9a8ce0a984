//! Studies over HTTP: one handler a call, each a few lines around what `Runs` does.

use crate::api::extract::{JsonBody, Path, Query};
use crate::api::runs::{created_at, idempotency_key};
use crate::error::{ApiError, ProblemDetails, ProblemResponses};
use crate::runs::Runs;
use crate::studies::{Submitted, experiments};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use leadline_protocol::study::StudyPlan;
use leadline_protocol::study::document::StudyDocument;
use leadline_protocol::study::record::{Experiment, Study, StudyList, StudyQuery, StudySummary};

/// What a study would do: every step's plan, on the host as the steps before will have left it. Nothing is touched.
#[utoipa::path(post, path = "/studies/plan", tag = "studies", request_body = StudyDocument,
    responses((status = 200, body = StudyPlan), ProblemResponses))]
pub async fn plan_study(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<Json<StudyPlan>, ApiError> {
    let request = crate::api::requests::study_request(body.value()?).map_err(ApiError::Refused)?;
    Ok(Json(runs.plan_study(&request).await?))
}

/// Queues all runs of a study, or none of them. With `Idempotency-Key`, the same key and body give the same study again.
#[utoipa::path(post, path = "/studies", tag = "studies", request_body = StudyDocument,
    params(("Idempotency-Key" = Option<String>, Header, description = "Up to 255 characters; kept for a day")),
    responses(
        (status = 201, body = Study, headers(("Location" = String, description = "Path of the study"))),
        (status = 429, body = ProblemDetails, content_type = "application/problem+json", description = "The queue is full"),
        ProblemResponses
    ))]
pub async fn create_study(
    State(runs): State<Runs>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = idempotency_key(&headers, "POST /studies", body.bytes())?;
    let request = crate::api::requests::study_request(body.value()?).map_err(ApiError::Refused)?;
    let Submitted { study, replayed } = runs.submit_study(request, key).await?;
    Ok(created_at(
        &format!("/studies/{}", study.summary.number),
        study,
        replayed,
    ))
}

/// Studies, newest first.
#[utoipa::path(get, path = "/studies", tag = "studies", params(StudyQuery), responses((status = 200, body = StudyList), ProblemResponses))]
pub async fn list_studies(
    State(runs): State<Runs>,
    Query(query): Query<StudyQuery>,
) -> Result<Json<StudyList>, ApiError> {
    Ok(Json(runs.studies(&query).await?))
}

/// One study with its steps and their runs.
#[utoipa::path(get, path = "/studies/{n}", tag = "studies", params(("n" = u64, Path, description = "Number of the study")),
    responses((status = 200, body = Study), ProblemResponses))]
pub async fn get_study(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<Json<Study>, ApiError> {
    Ok(Json(runs.study(n).await?))
}

/// Cancels the steps of a study that wait or run. What was measured until then is kept.
#[utoipa::path(post, path = "/studies/{n}/cancel", tag = "studies", params(("n" = u64, Path, description = "Number of the study")),
    responses((status = 202, body = StudySummary), ProblemResponses))]
pub async fn cancel_study(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<(StatusCode, Json<StudySummary>), ApiError> {
    Ok((StatusCode::ACCEPTED, Json(runs.cancel_study(n).await?)))
}

/// The experiments that come with the server: studies that show how a number misleads, each with figures that others
/// published. `study` is what `POST /studies` takes.
#[utoipa::path(get, path = "/experiments", tag = "studies", responses((status = 200, body = Vec<Experiment>), ProblemResponses))]
pub async fn list_experiments() -> Result<Json<Vec<Experiment>>, ApiError> {
    Ok(Json(experiments::all().map_err(anyhow::Error::from)?))
}
