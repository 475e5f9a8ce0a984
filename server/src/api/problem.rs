//! Maps errors to HTTP responses with an RFC 9457 problem body.

use crate::{
    error::{Error, RunnerError},
    store::fault::StoreFault,
};
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use leadline_protocol::problem::{Problem, ProblemKind};
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

/// `Retry-After`, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("10");

/// RFC 9457 problem details.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemDetails {
    /// `about:blank#` followed by `code`.
    #[serde(rename = "type")]
    kind: String,
    /// Reason phrase for the status.
    title: &'static str,
    /// HTTP status code.
    status: u16,
    /// Stable identifier, for example `queue_full`.
    code: String,
    /// Error message, with a remedy.
    detail: String,
    /// One entry per invalid field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<Problem>,
}

#[derive(Debug)]
pub(crate) enum ApiError {
    /// Invalid HTTP request.
    Request {
        status: StatusCode,
        code: &'static str,
        detail: String,
    },
    /// The operation failed.
    Operation(Error),
}

impl ApiError {
    pub(crate) fn forbidden(code: &'static str, detail: String) -> Self {
        Self::Request {
            status: StatusCode::FORBIDDEN,
            code,
            detail,
        }
    }

    pub(crate) fn not_found(what: String) -> Self {
        Error::NotFound { what }.into()
    }

    fn status_and_code(&self) -> (StatusCode, &str) {
        let error = match self {
            Self::Request { status, code, .. } => return (*status, code),
            Self::Operation(error) => error,
        };
        match error {
            Error::NotFound { .. } => (StatusCode::NOT_FOUND, "not_found"),
            Error::Conflict { code, .. } => (StatusCode::CONFLICT, code),
            Error::Rejected(problems) => rejection(problems),
            Error::ChangedMeanwhile(_) => (StatusCode::PRECONDITION_FAILED, "changed_meanwhile"),
            Error::QueueFull(_) => (StatusCode::TOO_MANY_REQUESTS, "queue_full"),
            Error::TooManyStreams(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_streams"),
            Error::Runner(_) => (StatusCode::BAD_GATEWAY, "runner_failed"),
            Error::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            Error::Store(fault @ StoreFault::Full) => {
                (StatusCode::INSUFFICIENT_STORAGE, fault.code())
            }
            Error::Store(fault) => (StatusCode::SERVICE_UNAVAILABLE, fault.code()),
            Error::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}

/// Guard problems return 409, because they depend on the host's state; invalid input returns 422.
fn rejection(problems: &[Problem]) -> (StatusCode, &str) {
    if problems
        .iter()
        .any(|problem| problem.kind == ProblemKind::Guard)
    {
        return (StatusCode::CONFLICT, "rejected_by_guard");
    }
    let code = problems.first().map_or("rejected", |first| &first.code);
    (StatusCode::UNPROCESSABLE_ENTITY, code)
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Operation(error)
    }
}

impl From<Vec<Problem>> for ApiError {
    fn from(problems: Vec<Problem>) -> Self {
        Error::Rejected(problems).into()
    }
}

impl From<RunnerError> for ApiError {
    fn from(error: RunnerError) -> Self {
        Error::from(error).into()
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(error: anyhow::Error) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        let code = code.to_owned();
        // A retry cannot succeed until the database is restored.
        let may_recover = !matches!(self, Self::Operation(Error::Store(StoreFault::Damaged(_))));
        let mut errors = Vec::new();
        let detail = match self {
            Self::Request { detail, .. } => detail,
            Self::Operation(Error::Internal(error)) => log_internal_error(&error),
            Self::Operation(error) => {
                let detail = error.to_string();
                if let Error::Rejected(problems) = error {
                    errors = problems;
                }
                detail
            }
        };
        let headers = headers(status, may_recover);
        let body = ProblemDetails {
            kind: format!("about:blank#{code}"),
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail,
            errors,
        };
        (status, headers, Json(body)).into_response()
    }
}

fn log_internal_error(error: &anyhow::Error) -> String {
    tracing::error!(error = format!("{error:#}"), "request failed");
    "Internal server error. See the server log for details.".into()
}

fn headers(status: StatusCode, may_recover: bool) -> HeaderMap {
    let problem_json = HeaderValue::from_static("application/problem+json");
    let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, problem_json)]);
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::INSUFFICIENT_STORAGE
            if may_recover =>
        {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        _ => {}
    }
    headers
}

/// Problem responses of all operations, for the OpenAPI document.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only the derived schema is used")]
pub(crate) enum ProblemResponses {
    /// Missing or invalid token
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(ProblemDetails),
    /// `Host` or `Origin` header not allowed
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(ProblemDetails),
    /// Not found
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDetails),
    /// Rejected by the guard, or not possible in the current state
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDetails),
    /// Invalid input; `errors` contains one entry per invalid field
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(ProblemDetails),
    /// The database does not accept writes, or the server is stopping
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(ProblemDetails),
    /// The disk that holds the database is full
    #[response(status = 507, content_type = "application/problem+json")]
    DiskFull(ProblemDetails),
}

#[derive(IntoResponses)]
#[response(
    status = 429,
    description = "The queue is full",
    content_type = "application/problem+json"
)]
#[expect(dead_code, reason = "only the derived schema is used")]
pub(crate) struct QueueFull(ProblemDetails);

#[derive(IntoResponses)]
#[response(
    status = 426,
    description = "Not a valid WebSocket upgrade",
    content_type = "application/problem+json"
)]
#[expect(dead_code, reason = "only the derived schema is used")]
pub(crate) struct NoWebSocket(ProblemDetails);
