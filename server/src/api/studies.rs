//! Study handlers.

use crate::{
    api::{
        extract::{JsonBody, Path},
        idempotency::{self, IdempotencyHeader},
        problem::{ApiError, ProblemResponses, QueueFull},
        query_string::Query,
        requests,
    },
    runs::Runs,
    studies::experiments,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use leadline_protocol::study::{
    definition::StudyDefinition,
    detail::{Experiment, Study},
    plan::StudyPlan,
    procedure::ProcedureResults,
    summary::{StudyList, StudyPatch, StudyQuery, StudySummary},
};

/// Plan a study without starting it
///
/// Each step is planned for the state in which the previous steps leave the targets.
#[utoipa::path(post, path = "/studies/plan", tag = "studies", request_body = StudyDefinition,
    responses((status = 200, body = StudyPlan), ProblemResponses))]
pub(crate) async fn plan_study(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<Json<StudyPlan>, ApiError> {
    let request = requests::study_request(body.parse()?)?;
    Ok(Json(runs.plan_study(&request).await?))
}

/// Queue all runs of a study, or none if there is an error
///
/// Repeating a request with the same `Idempotency-Key` and body returns the same study.
#[utoipa::path(post, path = "/studies", tag = "studies",
    request_body = StudyDefinition,
    params(IdempotencyHeader),
    responses(
        (
            status = 201,
            body = Study,
            headers(("Location" = String, description = "Path of the study"))
        ),
        QueueFull,
        ProblemResponses
    ))]
pub(crate) async fn create_study(
    State(runs): State<Runs>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = idempotency::key(&headers, "POST /studies", &body.0)?;
    let request = requests::study_request(body.parse()?)?;
    let study = runs.submit_study(request, key).await?;
    let path = format!("/studies/{}", study.created.summary.number);
    Ok(idempotency::created(&path, study.created, study.replayed))
}

/// List studies, newest first
#[utoipa::path(get, path = "/studies", tag = "studies",
    params(StudyQuery),
    responses((status = 200, body = StudyList), ProblemResponses))]
pub(crate) async fn list_studies(
    State(runs): State<Runs>,
    Query(query): Query<StudyQuery>,
) -> Result<Json<StudyList>, ApiError> {
    Ok(Json(runs.studies(&query).await?))
}

/// Get a study with its steps and their runs
#[utoipa::path(get, path = "/studies/{n}", tag = "studies",
    responses((status = 200, body = Study), ProblemResponses))]
pub(crate) async fn get_study(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<Json<Study>, ApiError> {
    Ok(Json(runs.study(n).await?))
}

/// Change the name of a study
///
/// Runs of the study whose names start with the old name are also renamed.
#[utoipa::path(patch, path = "/studies/{n}", tag = "studies", request_body = StudyPatch,
    responses((status = 200, body = Study), ProblemResponses))]
pub(crate) async fn patch_study(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    body: JsonBody,
) -> Result<Json<Study>, ApiError> {
    let patch = requests::study_patch(body.parse()?)?;
    Ok(Json(runs.rename_study(n, &patch.name).await?))
}

/// Delete a study that has ended, and its runs
///
/// If the study still has files to remove, it is deleted after they are removed.
#[utoipa::path(delete, path = "/studies/{n}", tag = "studies",
    responses((status = 204, description = "Deleted"), ProblemResponses))]
pub(crate) async fn delete_study(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<StatusCode, ApiError> {
    runs.delete_study(n).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get the results of a study whose runs follow a procedure
///
/// Returns the results so far, for example the rounds and the measurement window of a test that
/// follows the SNIA performance test specification.
#[utoipa::path(get, path = "/studies/{n}/procedure", tag = "studies",
    responses((status = 200, body = ProcedureResults), ProblemResponses))]
pub(crate) async fn get_procedure(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<Json<ProcedureResults>, ApiError> {
    Ok(Json(runs.procedure_results(n).await?))
}

/// Cancel the queued and active steps of a study
///
/// Results measured so far are kept.
#[utoipa::path(post, path = "/studies/{n}/cancel", tag = "studies",
    responses((status = 202, body = StudySummary), ProblemResponses))]
pub(crate) async fn cancel_study(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<(StatusCode, Json<StudySummary>), ApiError> {
    Ok((StatusCode::ACCEPTED, Json(runs.cancel_study(n).await?)))
}

/// List the built-in experiments
///
/// Experiments are studies that reproduce published, misleading benchmark results. `study` is a
/// valid body of `POST /studies`.
#[utoipa::path(get, path = "/experiments", tag = "studies",
    responses((status = 200, body = Vec<Experiment>), ProblemResponses))]
pub(crate) async fn list_experiments() -> Result<Json<Vec<Experiment>>, ApiError> {
    Ok(Json(experiments::all().map_err(anyhow::Error::from)?))
}
