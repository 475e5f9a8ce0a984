//! Schedule handlers.

use crate::{
    api::{
        API,
        extract::{JsonBody, Path},
        problem::{ApiError, ProblemResponses},
        schedule_requests::schedule_request,
    },
    runs::Runs,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header::LOCATION},
    response::IntoResponse,
};
use leadline_protocol::schedule::{Schedule, ScheduleList, SchedulePlan, ScheduleRequest};

/// List all schedules
#[utoipa::path(get, path = "/schedules", tag = "schedules",
    responses((status = 200, body = ScheduleList), ProblemResponses))]
pub(crate) async fn list_schedules(
    State(runs): State<Runs>,
) -> Result<Json<ScheduleList>, ApiError> {
    Ok(Json(runs.schedules().await?))
}

/// Create a schedule
///
/// The document is planned on this host. Documents that require a confirmation are rejected.
#[utoipa::path(post, path = "/schedules", tag = "schedules", request_body = ScheduleRequest,
    responses((status = 201, body = Schedule), ProblemResponses))]
pub(crate) async fn create_schedule(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<impl IntoResponse, ApiError> {
    let request = schedule_request(body.parse()?)?;
    let schedule = runs.create_schedule(request).await?;
    let location = format!("{API}/schedules/{}", schedule.number);
    Ok((StatusCode::CREATED, [(LOCATION, location)], Json(schedule)))
}

/// Check a schedule and list its next five due times
#[utoipa::path(post, path = "/schedules/plan", tag = "schedules", request_body = ScheduleRequest,
    responses((status = 200, body = SchedulePlan), ProblemResponses))]
pub(crate) async fn plan_schedule(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<Json<SchedulePlan>, ApiError> {
    let request = schedule_request(body.parse()?)?;
    Ok(Json(runs.plan_schedule(request).await?))
}

/// Get a schedule with its latest due times
#[utoipa::path(get, path = "/schedules/{n}", tag = "schedules",
    responses((status = 200, body = Schedule), ProblemResponses))]
pub(crate) async fn get_schedule(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<Json<Schedule>, ApiError> {
    Ok(Json(runs.schedule(n).await?))
}

/// Replace a schedule
///
/// Runs that were due before the change do not start.
#[utoipa::path(put, path = "/schedules/{n}", tag = "schedules", request_body = ScheduleRequest,
    responses((status = 200, body = Schedule), ProblemResponses))]
pub(crate) async fn replace_schedule(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    body: JsonBody,
) -> Result<Json<Schedule>, ApiError> {
    let request = schedule_request(body.parse()?)?;
    Ok(Json(runs.replace_schedule(n, request).await?))
}

/// Delete a schedule
///
/// Its runs are kept.
#[utoipa::path(delete, path = "/schedules/{n}", tag = "schedules",
    responses((status = 204, description = "Deleted"), ProblemResponses))]
pub(crate) async fn delete_schedule(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<StatusCode, ApiError> {
    runs.delete_schedule(n).await?;
    Ok(StatusCode::NO_CONTENT)
}
