//! Extractors of paths and bodies that return problem details for invalid requests.

use crate::api::problem::ApiError;
use axum::{
    body::Bytes,
    extract::{
        FromRequest, FromRequestParts, Request,
        rejection::{BytesRejection, PathRejection},
    },
    http::StatusCode,
};
use leadline_protocol::json::{DocumentError, parse_document};
use serde_json::Value;

/// Maximum size of a request body, in bytes.
pub(crate) const MAX_BODY: usize = 1024 * 1024;

#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ApiError))]
pub(crate) struct Path<T>(pub T);

/// JSON body. It is parsed by the handler, because the idempotency key covers its raw bytes.
pub(crate) struct JsonBody(pub Bytes);

impl JsonBody {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.trim_ascii().is_empty()
    }

    pub(crate) fn parse(&self) -> Result<Value, ApiError> {
        parse_document(&self.0).map_err(|error| match error {
            DocumentError::Repeated(problems) => problems.into(),
            DocumentError::Syntax(error) => ApiError::Request {
                status: StatusCode::UNPROCESSABLE_ENTITY,
                code: "bad_json",
                detail: format!("The body is not valid JSON: {error}."),
            },
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
        let (code, detail) = if status == StatusCode::PAYLOAD_TOO_LARGE {
            let detail = format!("The body exceeds {MAX_BODY} bytes.");
            ("too_large", detail)
        } else {
            ("bad_body", rejection.body_text())
        };
        Self::Request {
            status,
            code,
            detail,
        }
    }
}

impl From<PathRejection> for ApiError {
    fn from(_: PathRejection) -> Self {
        // For example `/runs/abc`.
        Self::not_found("path".into())
    }
}
