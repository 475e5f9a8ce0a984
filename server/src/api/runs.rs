//! Run handlers.

use crate::{
    api::{
        extract::{JsonBody, Path},
        idempotency::{self, IdempotencyHeader},
        problem::{ApiError, ProblemResponses, QueueFull},
        query_string::Query,
        requests,
    },
    error::Error,
    query::series,
    runs::{Runs, submit::Submitted},
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use leadline_protocol::{
    limits::{MAX_MS, MAX_POINTS},
    plan::Plan,
    query::{RunQuery, SeriesQuery},
    run::{RerunRequest, Run, RunList, RunPatch, RunRequest, RunSummary},
    series::Series,
};
use utoipa::IntoParams;

/// Plan a run without starting it
///
/// Returns the resolved jobs, estimated time and bytes written, findings and problems.
#[utoipa::path(post, path = "/plan", tag = "runs",
    request_body = RunRequest,
    responses((status = 200, body = Plan), ProblemResponses))]
pub(crate) async fn plan_run(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<Json<Plan>, ApiError> {
    let request = requests::run_request(body.parse()?)?;
    Ok(Json(runs.plan(request).await?))
}

/// List runs, newest first by default
#[utoipa::path(get, path = "/runs", tag = "runs",
    params(RunQuery),
    responses((status = 200, body = RunList), ProblemResponses))]
pub(crate) async fn list_runs(
    State(runs): State<Runs>,
    Query(query): Query<RunQuery>,
) -> Result<Json<RunList>, ApiError> {
    Ok(Json(runs.list(&query).await?))
}

/// Queue a run
///
/// Repeating a request with the same `Idempotency-Key` and body returns the same run.
#[utoipa::path(post, path = "/runs", tag = "runs", request_body = RunRequest,
    params(IdempotencyHeader),
    responses(
        (status = 201, body = Run, headers(("Location" = String, description = "Path of the run"))),
        QueueFull,
        ProblemResponses
    ))]
pub(crate) async fn create_run(
    State(runs): State<Runs>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = idempotency::key(&headers, "POST /runs", &body.0)?;
    let request = requests::run_request(body.parse()?)?;
    Ok(created(runs.submit(request, key).await?))
}

/// Get a run
#[utoipa::path(get, path = "/runs/{n}", tag = "runs",
    responses((status = 200, body = Run), ProblemResponses))]
pub(crate) async fn get_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<Json<Run>, ApiError> {
    Ok(Json(runs.get(n).await?))
}

/// Change a run's name, tags or notes
#[utoipa::path(patch, path = "/runs/{n}", tag = "runs", request_body = RunPatch,
    params(IfMatch),
    responses(
        (status = 200, body = Run),
        (status = 412, description = "Changed since `If-Match` was read"),
        ProblemResponses
    ))]
pub(crate) async fn patch_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Json<Run>, ApiError> {
    let patch = requests::run_patch(body.parse()?)?;
    let expected = headers.get(header::IF_MATCH);
    let expected = expected.map(|value| value.to_str().unwrap_or_default().trim_matches('"'));
    let expected = expected.filter(|etag| *etag != "*");
    Ok(Json(runs.patch(n, &patch, expected).await?))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "only the derived schema is used")]
struct IfMatch {
    /// `etag` of the run, in quotes. Without this header, the last write wins.
    #[param(rename = "If-Match")]
    etag: Option<String>,
}

/// Delete a finished run and its events
///
/// The run disappears immediately. The disk space used by its events is released while no run is
/// active.
#[utoipa::path(delete, path = "/runs/{n}", tag = "runs",
    responses((status = 204, description = "Deleted"), ProblemResponses))]
pub(crate) async fn delete_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<StatusCode, ApiError> {
    runs.delete(n).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Cancel a queued or active run
///
/// Results measured so far are kept.
#[utoipa::path(post, path = "/runs/{n}/cancel", tag = "runs",
    responses((status = 202, body = RunSummary), ProblemResponses))]
pub(crate) async fn cancel_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<(StatusCode, Json<RunSummary>), ApiError> {
    Ok((StatusCode::ACCEPTED, Json(runs.cancel(n).await?)))
}

/// Queue a run again, optionally with changed options
#[utoipa::path(post, path = "/runs/{n}/rerun", tag = "runs",
    request_body = Option<RerunRequest>,
    params(IdempotencyHeader),
    responses(
        (status = 201, body = Run, headers(("Location" = String, description = "Path of the run"))),
        QueueFull,
        ProblemResponses
    ))]
pub(crate) async fn rerun_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = idempotency::key(&headers, &format!("POST /runs/{n}/rerun"), &body.0)?;
    let change = if body.is_empty() {
        RerunRequest::default()
    } else {
        requests::rerun_request(body.parse()?)?
    };
    Ok(created(runs.rerun(n, change, key).await?))
}

/// Get a run's time series for charts
#[utoipa::path(get, path = "/runs/{n}/series", tag = "runs", params(SeriesQuery),
    responses((status = 200, body = Series), ProblemResponses))]
pub(crate) async fn get_series(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<SeriesQuery>,
) -> Result<Json<Series>, ApiError> {
    let points = check_series(&query)?;
    let sample_ms = runs.intact_run(n).await?.sample_ms;
    let series = series::load(runs.store(), n, sample_ms, &query, points).await?;
    Ok(Json(series))
}

/// Validates the query. Returns the number of points.
pub(crate) fn check_series(query: &SeriesQuery) -> Result<u32, Error> {
    let points = query.points.unwrap_or(series::DEFAULT_POINTS);
    if !(1..=MAX_POINTS).contains(&points) {
        return Err(Error::invalid(
            "bad_value",
            "points",
            format!("points must be between 1 and {}.", MAX_POINTS),
            format!("Use a number from 1 to {}.", MAX_POINTS),
        ));
    }
    for (field, ms) in [("from_ms", query.from_ms), ("to_ms", query.to_ms)] {
        // NaN is outside every range, so this check also rejects it.
        if ms.is_some_and(|ms| !(-MAX_MS..=MAX_MS).contains(&ms)) {
            return Err(Error::invalid(
                "bad_value",
                field,
                format!("{field} is out of range."),
                format!("Use a number from -{0} to {0}.", MAX_MS),
            ));
        }
    }
    Ok(points)
}

fn created(run: Submitted<Run>) -> Response {
    let path = format!("/runs/{}", run.created.summary.number);
    idempotency::created(&path, run.created, run.replayed)
}
