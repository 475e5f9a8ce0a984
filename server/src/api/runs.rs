//! Runs over HTTP: one handler a call, each a few lines around what `Runs` does.

use crate::api::extract::{JsonBody, Path, Query};
use crate::api::routes::API;
use crate::error::{ApiError, ProblemDetails, ProblemResponses};
use crate::query::series::{DEFAULT_POINTS, MAX_POINTS};
use crate::runs::Runs;
use crate::runs::submit::Submitted;
use crate::store::keys::IdempotencyKey;
use axum::Json;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leadline_protocol::event::Event;
use leadline_protocol::plan::Plan;
use leadline_protocol::query::{ExportQuery, RunQuery, SeriesQuery, StreamQuery};
use leadline_protocol::run::{RerunRequest, Run, RunList, RunPatch, RunRequest, RunSummary};
use leadline_protocol::series::Series;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The longest `Idempotency-Key`.
const MAX_KEY: usize = 255;

/// What would happen: the jobs as resolved, time, bytes written, findings and problems. Nothing is touched.
#[utoipa::path(post, path = "/plan", tag = "runs", request_body = RunRequest, responses((status = 200, body = Plan), ProblemResponses))]
pub async fn plan_run(State(runs): State<Runs>, body: JsonBody) -> Result<Json<Plan>, ApiError> {
    let request = crate::api::requests::run_request(body.value()?).map_err(ApiError::Refused)?;
    Ok(Json(runs.plan(&request).await?))
}

/// Runs, newest first.
#[utoipa::path(get, path = "/runs", tag = "runs", params(RunQuery), responses((status = 200, body = RunList), ProblemResponses))]
pub async fn list_runs(
    State(runs): State<Runs>,
    Query(query): Query<RunQuery>,
) -> Result<Json<RunList>, ApiError> {
    Ok(Json(runs.list(&query).await?))
}

/// Queues a run. With `Idempotency-Key`, the same key and body give the same run again.
#[utoipa::path(post, path = "/runs", tag = "runs", request_body = RunRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Up to 255 characters; kept for a day")),
    responses(
        (status = 201, body = Run, headers(("Location" = String, description = "Path of the run"))),
        (status = 429, body = ProblemDetails, content_type = "application/problem+json", description = "The queue is full"),
        ProblemResponses
    ))]
pub async fn create_run(
    State(runs): State<Runs>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = idempotency_key(&headers, "POST /runs", body.bytes())?;
    let request = crate::api::requests::run_request(body.value()?).map_err(ApiError::Refused)?;
    Ok(created(runs.submit(request, key).await?))
}

/// One run with everything that is known about it.
#[utoipa::path(get, path = "/runs/{n}", tag = "runs", params(("n" = u64, Path, description = "Number of the run")),
    responses((status = 200, body = Run), ProblemResponses))]
pub async fn get_run(State(runs): State<Runs>, Path(n): Path<u64>) -> Result<Json<Run>, ApiError> {
    Ok(Json(runs.get(n).await?))
}

/// Changes name, tags or notes.
#[utoipa::path(patch, path = "/runs/{n}", tag = "runs", params(("n" = u64, Path, description = "Number of the run")), request_body = RunPatch,
    responses((status = 200, body = Run), ProblemResponses))]
pub async fn patch_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    body: JsonBody,
) -> Result<Json<Run>, ApiError> {
    let patch = crate::api::requests::run_patch(body.value()?).map_err(ApiError::Refused)?;
    Ok(Json(runs.patch(n, &patch).await?))
}

/// Deletes a run that came to its end, with all its events.
#[utoipa::path(delete, path = "/runs/{n}", tag = "runs", params(("n" = u64, Path, description = "Number of the run")),
    responses((status = 204, description = "Deleted"), ProblemResponses))]
pub async fn delete_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<StatusCode, ApiError> {
    runs.delete(n).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Cancels a run that waits or runs. What was measured until then is kept.
#[utoipa::path(post, path = "/runs/{n}/cancel", tag = "runs", params(("n" = u64, Path, description = "Number of the run")),
    responses((status = 202, body = RunSummary), ProblemResponses))]
pub async fn cancel_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<(StatusCode, Json<RunSummary>), ApiError> {
    Ok((StatusCode::ACCEPTED, Json(runs.cancel(n).await?)))
}

/// Queues the same jobs again, with changes where some are asked for.
#[utoipa::path(post, path = "/runs/{n}/rerun", tag = "runs", request_body = Option<RerunRequest>,
    params(
        ("n" = u64, Path, description = "Number of the run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Up to 255 characters; kept for a day")
    ),
    responses(
        (status = 201, body = Run, headers(("Location" = String, description = "Path of the new run"))),
        (status = 429, body = ProblemDetails, content_type = "application/problem+json", description = "The queue is full"),
        ProblemResponses
    ))]
pub async fn rerun_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = idempotency_key(&headers, &format!("POST /runs/{n}/rerun"), body.bytes())?;
    let change = if body.is_empty() {
        RerunRequest::default()
    } else {
        crate::api::requests::rerun_request(body.value()?).map_err(ApiError::Refused)?
    };
    Ok(created(runs.rerun(n, change, key).await?))
}

/// A run's samples in buckets, for charts.
#[utoipa::path(get, path = "/runs/{n}/series", tag = "runs", params(("n" = u64, Path, description = "Number of the run"), SeriesQuery),
    responses((status = 200, body = Series), ProblemResponses))]
pub async fn get_series(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<SeriesQuery>,
) -> Result<Json<Series>, ApiError> {
    let points = query.points.unwrap_or(DEFAULT_POINTS);
    if !(1..=MAX_POINTS).contains(&points) {
        let remedy = format!("Write a number from 1 to {MAX_POINTS}.");
        return Err(ApiError::invalid(
            "bad_value",
            "points",
            format!("{points} is not a number of points."),
            remedy,
        ));
    }
    Ok(Json(runs.series(n, &query, points).await?))
}

/// Every event from `since` on: stored ones first, then live ones, until the run ends. A WebSocket with one event a text
/// frame, or over plain GET one event a line.
#[utoipa::path(get, path = "/runs/{n}/stream", tag = "runs", params(("n" = u64, Path, description = "Number of the run"), StreamQuery),
    responses(
        (status = 101, description = "WebSocket: one `Event` a text frame; closed with 1000 behind the last event"),
        (status = 200, body = Event, content_type = "application/x-ndjson", description = "One `Event` a line"),
        ProblemResponses
    ))]
pub async fn stream_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<StreamQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let since = query.since.unwrap_or_default();
    match upgrade {
        Ok(upgrade) => runs.socket(upgrade, n, since).await,
        Err(
            WebSocketUpgradeRejection::InvalidConnectionHeader(_)
            | WebSocketUpgradeRejection::InvalidUpgradeHeader(_),
        ) => runs.lines(n, since).await,
        Err(rejection) => Err(no_socket(&rejection)),
    }
}

/// A run as a file.
#[utoipa::path(get, path = "/runs/{n}/export", tag = "runs", params(("n" = u64, Path, description = "Number of the run"), ExportQuery),
    responses(
        (status = 200, description = "The file", content((String = "text/csv"), (Event = "application/x-ndjson"))),
        ProblemResponses
    ))]
pub async fn export_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    runs.export(n, query.format).await
}

/// WebSocket: a frame whenever a run is new or moves, for lists. Fetch lists after connecting; when the socket is closed
/// with 1013, frames were lost: connect and fetch again.
#[utoipa::path(get, path = "/events", tag = "runs", responses((status = 101, description = "WebSocket: one `RunsEvent` a text frame"), ProblemResponses))]
pub async fn stream_runs(
    State(runs): State<Runs>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    runs.runs_socket(upgrade.map_err(|rejection| no_socket(&rejection))?)
}

fn no_socket(rejection: &WebSocketUpgradeRejection) -> ApiError {
    let detail = format!("The WebSocket cannot be opened: {}.", rejection.body_text());
    ApiError::Unreadable {
        status: StatusCode::UPGRADE_REQUIRED,
        code: "no_websocket",
        detail,
    }
}

fn created(submitted: Submitted) -> Response {
    created_at(
        &format!("/runs/{}", submitted.run.summary.number),
        submitted.run,
        submitted.replayed,
    )
}

/// 201 with where it is; `replayed`: the same request had made it before.
pub(crate) fn created_at<T: Serialize>(path: &str, made: T, replayed: bool) -> Response {
    let location =
        HeaderValue::try_from(format!("{API}{path}")).unwrap_or(HeaderValue::from_static(API));
    let mut response = (
        StatusCode::CREATED,
        [(header::LOCATION, location)],
        Json(made),
    )
        .into_response();
    if replayed {
        response
            .headers_mut()
            .insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    response
}

pub(crate) fn idempotency_key(
    headers: &HeaderMap,
    call: &str,
    body: &[u8],
) -> Result<Option<IdempotencyKey>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(key) if !key.is_empty() && key.len() <= MAX_KEY => {
            let request_sha256 = Sha256::new()
                .chain_update(call)
                .chain_update([0])
                .chain_update(body)
                .finalize()
                .into();
            Ok(Some(IdempotencyKey {
                key: key.into(),
                request_sha256,
            }))
        }
        _ => {
            let remedy = format!("Send 1 to {MAX_KEY} plain characters, such as a UUID.");
            Err(ApiError::invalid(
                "bad_value",
                "Idempotency-Key",
                "This is no key.",
                remedy,
            ))
        }
    }
}
