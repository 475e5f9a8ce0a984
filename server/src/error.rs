//! Every "no" of the HTTP interface: one enum, one status table, one shape (RFC 9457 problem JSON).
//!
//! Inside the server errors are `ApiError`; only `IntoResponse` here turns them into a status and a body. What cannot
//! be told to a caller (a broken database) is logged and answered with a plain sentence.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leadline_protocol::problem::{Problem, ProblemKind};
use serde::{Deserialize, Serialize};
use utoipa::{IntoResponses, ToSchema};

/// Media type of a problem.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Why a call was not done (RFC 9457).
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ProblemDetails {
    /// Names the kind of problem: `about:blank#` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The HTTP status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Stable name for programs, such as `queue_full`.
    pub code: String,
    /// What is wrong and what to do about it.
    pub detail: String,
    /// Every bad field, where fields are bad.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<Problem>,
}

/// Why a call was not done, inside the server.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// No token, or a wrong one.
    #[error(
        "This call needs the token: send `Authorization: Bearer TOKEN`, or open the login link that the server printed."
    )]
    Unauthorized,
    /// The `Host` or `Origin` header is not one of ours.
    #[error("{sentence} {remedy}")]
    Forbidden {
        /// `foreign_host` or `foreign_origin`.
        code: &'static str,
        /// What is wrong.
        sentence: String,
        /// What to do about it.
        remedy: String,
    },
    /// Nothing by that name.
    #[error("There is no {what}.")]
    NotFound {
        /// What was looked for, such as `run #12`.
        what: String,
    },
    /// The thing is there, but not in a state for this.
    #[error("{sentence}")]
    Conflict {
        /// Stable name.
        code: &'static str,
        /// What is in the way and what to do about it.
        sentence: String,
    },
    /// What was asked cannot be done; every reason at once.
    #[error("{}", refused_sentence(.0))]
    Refused(Vec<Problem>),
    /// Part of the contract, and not built yet.
    #[error("{what} is not built yet. {remedy}")]
    NotBuilt {
        /// What it is.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The request could not be read: its status and reason.
    #[error("{detail}")]
    Unreadable {
        /// 400, 405, 413, 415 or 422.
        status: StatusCode,
        /// Stable name.
        code: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// The queue holds as many runs as it may.
    #[error("The queue is full: {0} runs are waiting. Wait for some of them, or cancel them.")]
    QueueFull(usize),
    /// As many listen as may.
    #[error("{0} sockets and streams are open, and no more may be. Close some of them.")]
    TooManyListeners(usize),
    /// The runner could not be asked.
    #[error("The runner did not answer: {0}")]
    Runner(String),
    /// The server stops.
    #[error("The server is stopping; nothing new is started.")]
    Stopping,
    /// Something of ours is broken.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

fn refused_sentence(problems: &[Problem]) -> String {
    match problems {
        [] => "Refused.".into(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}

impl ApiError {
    /// One bad field of a request.
    pub fn invalid(
        code: &str,
        field: &str,
        sentence: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Refused(vec![Problem::invalid(code, field, sentence, remedy)])
    }

    /// A run that is not there.
    pub fn no_run(number: u64) -> Self {
        Self::NotFound {
            what: format!("run #{number}"),
        }
    }

    /// An idempotency key that came with another request before.
    pub fn key_reused() -> Self {
        let sentence = "This key came with another request before.";
        Self::invalid(
            "idempotency_key_reused",
            "Idempotency-Key",
            sentence,
            "Use a new key for a new request.",
        )
    }

    /// An idempotency key whose run or study was deleted since: making it anew is for its caller to say.
    pub fn made_and_deleted(what: &str) -> Self {
        let sentence = format!(
            "This request made {what}, which was deleted since. Use a new key to make it again."
        );
        Self::Conflict {
            code: "deleted",
            sentence,
        }
    }

    /// A study that is not there.
    pub fn no_study(number: u64) -> Self {
        Self::NotFound {
            what: format!("study #{number}"),
        }
    }

    fn status_and_code(&self) -> (StatusCode, &str) {
        match self {
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::Forbidden { code, .. } => (StatusCode::FORBIDDEN, code),
            Self::NotFound { .. } => (StatusCode::NOT_FOUND, "not_found"),
            Self::Conflict { code, .. } => (StatusCode::CONFLICT, code),
            Self::Refused(problems) => refused_status(problems),
            Self::NotBuilt { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "not_built"),
            Self::Unreadable { status, code, .. } => (*status, code),
            Self::QueueFull(_) => (StatusCode::TOO_MANY_REQUESTS, "queue_full"),
            Self::TooManyListeners(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_listeners"),
            Self::Runner(_) => (StatusCode::BAD_GATEWAY, "runner_failed"),
            Self::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    /// The body that a caller sees.
    pub fn problem(&self) -> ProblemDetails {
        let (status, code) = self.status_and_code();
        let detail = match self {
            Self::Internal(_) => "Something in the server is broken; its log says more.".into(),
            other => other.to_string(),
        };
        ProblemDetails {
            kind: format!("about:blank#{code}"),
            title: status.canonical_reason().unwrap_or("Error").into(),
            status: status.as_u16(),
            code: code.into(),
            detail,
            errors: if let Self::Refused(problems) = self {
                problems.clone()
            } else {
                Vec::new()
            },
        }
    }
}

/// The guard's problems are conflicts with the state of the host, all others are bad input.
fn refused_status(problems: &[Problem]) -> (StatusCode, &str) {
    match problems
        .iter()
        .find(|problem| problem.kind == ProblemKind::Guard)
    {
        Some(_) => (StatusCode::CONFLICT, "refused_by_guard"),
        None => (
            StatusCode::UNPROCESSABLE_ENTITY,
            problems
                .first()
                .map_or("refused", |first| first.code.as_str()),
        ),
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Internal(error) = &self {
            tracing::error!(error = format!("{error:#}"), "a call failed");
        }
        let (status, _) = self.status_and_code();
        let mut response = (status, Json(self.problem())).into_response();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        match status {
            StatusCode::UNAUTHORIZED => response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            StatusCode::TOO_MANY_REQUESTS => response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("10")),
            _ => None,
        };
        response
    }
}

/// The problems that any call may answer with, for the OpenAPI document.
#[derive(IntoResponses)]
pub enum ProblemResponses {
    /// No token, or a wrong one.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(ProblemDetails),
    /// Foreign `Host` or `Origin`.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(ProblemDetails),
    /// Nothing by that name.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDetails),
    /// Refused by the guard, or by the state of the run.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDetails),
    /// Bad input: every bad field is in `errors`.
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(ProblemDetails),
}
