//! What handlers take out of a request: axum's extractors, with problem JSON when they cannot.

use crate::error::ApiError;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use serde_json::Value;

/// The longest body: jobs are small, and notes have their own limit.
pub const MAX_BODY: usize = 1024 * 1024;

/// A part of the path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ApiError))]
pub struct Path<T>(pub T);

/// The query.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ApiError))]
pub struct Query<T>(pub T);

/// A body that should be JSON.
pub struct JsonBody(Bytes);

impl JsonBody {
    /// As sent.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether nothing was sent.
    pub fn is_empty(&self) -> bool {
        self.0.trim_ascii().is_empty()
    }

    /// As JSON.
    ///
    /// # Errors
    /// It is none; the sentence names line and column.
    pub fn value(&self) -> Result<Value, ApiError> {
        serde_json::from_slice(&self.0).map_err(|error| ApiError::Unreadable {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            code: "bad_json",
            detail: format!("The body is not JSON: {error}."),
        })
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        Ok(Self(Bytes::from_request(request, state).await?))
    }
}

impl From<BytesRejection> for ApiError {
    fn from(rejection: BytesRejection) -> Self {
        let status = rejection.status();
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            let detail = format!("The body is longer than {MAX_BODY} bytes.");
            return Self::Unreadable {
                status,
                code: "too_large",
                detail,
            };
        }
        Self::Unreadable {
            status,
            code: "bad_body",
            detail: rejection.body_text(),
        }
    }
}

impl From<PathRejection> for ApiError {
    fn from(_: PathRejection) -> Self {
        // Such as /runs/abc: no run has that number.
        Self::NotFound {
            what: "such path".into(),
        }
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        // `Failed to deserialize query string: limit: invalid digit found in string`
        let text = rejection.body_text();
        let detail = text
            .split_once(": ")
            .map_or(text.as_str(), |(_, detail)| detail);
        let field = detail.split_once(": ").map_or("", |(field, _)| field);
        Self::invalid(
            "bad_query",
            field,
            format!("The query cannot be read: {detail}."),
            "See /api/docs for what it takes.",
        )
    }
}
