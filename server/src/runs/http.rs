//! Runs over HTTP: one handler a call, each a few lines around what `Runs` does.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use leadline_runner::event::Event;
use leadline_runner::plan::Plan;

use super::words::{
    ExportQuery, RerunRequest, Run, RunList, RunPatch, RunQuery, RunRequest, RunSummary, Series, SeriesQuery, StreamQuery,
};
use crate::App;
use crate::error::{ApiError, Problem, Problems};

const LATER: ApiError = ApiError::NotBuilt { what: "This call", remedy: "" };

/// What would happen: the jobs as resolved, time, bytes written, findings and refusals. Nothing is touched.
#[utoipa::path(post, path = "/plan", tag = "runs", request_body = RunRequest, responses((status = 200, body = Plan), Problems))]
pub async fn plan_run(State(_app): State<App>) -> Result<Json<Plan>, ApiError> {
    Err(LATER)
}

/// Runs, newest first.
#[utoipa::path(get, path = "/runs", tag = "runs", params(RunQuery), responses((status = 200, body = RunList), Problems))]
pub async fn list_runs(State(_app): State<App>) -> Result<Json<RunList>, ApiError> {
    Err(LATER)
}

/// Queues a run. With `Idempotency-Key`, the same key and body give the same run again.
#[utoipa::path(post, path = "/runs", tag = "runs", request_body = RunRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Up to 255 characters; kept for a day")),
    responses(
        (status = 201, body = Run, headers(("Location" = String, description = "Path of the run"))),
        (status = 429, body = Problem, content_type = "application/problem+json", description = "The queue is full"),
        Problems
    ))]
pub async fn create_run(State(_app): State<App>) -> Result<(StatusCode, HeaderMap, Json<Run>), ApiError> {
    Err(LATER)
}

/// One run with everything that is known about it.
#[utoipa::path(get, path = "/runs/{n}", tag = "runs", params(("n" = u64, Path, description = "Number of the run")),
    responses((status = 200, body = Run), Problems))]
pub async fn get_run(State(_app): State<App>, Path(_n): Path<u64>) -> Result<Json<Run>, ApiError> {
    Err(LATER)
}

/// Changes name, tags or notes.
#[utoipa::path(patch, path = "/runs/{n}", tag = "runs", params(("n" = u64, Path, description = "Number of the run")), request_body = RunPatch,
    responses((status = 200, body = Run), Problems))]
pub async fn patch_run(State(_app): State<App>, Path(_n): Path<u64>) -> Result<Json<Run>, ApiError> {
    Err(LATER)
}

/// Deletes a run that came to its end, with all its events.
#[utoipa::path(delete, path = "/runs/{n}", tag = "runs", params(("n" = u64, Path, description = "Number of the run")),
    responses((status = 204, description = "Deleted"), Problems))]
pub async fn delete_run(State(_app): State<App>, Path(_n): Path<u64>) -> Result<StatusCode, ApiError> {
    Err(LATER)
}

/// Cancels a run that waits or runs. What was measured until then is kept.
#[utoipa::path(post, path = "/runs/{n}/cancel", tag = "runs", params(("n" = u64, Path, description = "Number of the run")),
    responses((status = 202, body = RunSummary), Problems))]
pub async fn cancel_run(State(_app): State<App>, Path(_n): Path<u64>) -> Result<(StatusCode, Json<RunSummary>), ApiError> {
    Err(LATER)
}

/// Queues the same jobs again, with changes where some are asked for.
#[utoipa::path(post, path = "/runs/{n}/rerun", tag = "runs", request_body = Option<RerunRequest>,
    params(
        ("n" = u64, Path, description = "Number of the run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Up to 255 characters; kept for a day")
    ),
    responses(
        (status = 201, body = Run, headers(("Location" = String, description = "Path of the new run"))),
        (status = 429, body = Problem, content_type = "application/problem+json", description = "The queue is full"),
        Problems
    ))]
pub async fn rerun_run(State(_app): State<App>, Path(_n): Path<u64>) -> Result<(StatusCode, HeaderMap, Json<Run>), ApiError> {
    Err(LATER)
}

/// A run's samples in buckets, for charts.
#[utoipa::path(get, path = "/runs/{n}/series", tag = "runs", params(("n" = u64, Path, description = "Number of the run"), SeriesQuery),
    responses((status = 200, body = Series), Problems))]
pub async fn get_series(State(_app): State<App>, Path(_n): Path<u64>) -> Result<Json<Series>, ApiError> {
    Err(LATER)
}

/// Every event from `since` on: stored ones first, then live ones, until the run ends. A WebSocket with one event a text
/// frame, or over plain GET one event a line.
#[utoipa::path(get, path = "/runs/{n}/stream", tag = "runs", params(("n" = u64, Path, description = "Number of the run"), StreamQuery),
    responses(
        (status = 101, description = "WebSocket: one `Event` a text frame; closed with 1000 behind the last event"),
        (status = 200, body = Event, content_type = "application/x-ndjson", description = "One `Event` a line"),
        Problems
    ))]
pub async fn stream_run(State(_app): State<App>, Path(_n): Path<u64>) -> Result<Response, ApiError> {
    Err(LATER)
}

/// A run as a file.
#[utoipa::path(get, path = "/runs/{n}/export", tag = "runs", params(("n" = u64, Path, description = "Number of the run"), ExportQuery),
    responses(
        (status = 200, description = "The file", content((String = "text/csv"), (Event = "application/x-ndjson"))),
        Problems
    ))]
pub async fn export_run(State(_app): State<App>, Path(_n): Path<u64>) -> Result<Response, ApiError> {
    Err(LATER)
}

/// WebSocket: a frame whenever a run is new or moves, for lists. Fetch lists after connecting; when the socket is closed
/// with 1013, frames were lost: connect and fetch again.
#[utoipa::path(get, path = "/events", tag = "runs", responses((status = 101, description = "WebSocket: one `RunsEvent` a text frame"), Problems))]
pub async fn stream_runs(State(_app): State<App>) -> Result<Response, ApiError> {
    Err(LATER)
}
