//! Extractors that return problem details for invalid requests.

use crate::api::problem::ApiError;
use axum::{
    body::Bytes,
    extract::{
        FromRequest, FromRequestParts, Request,
        rejection::{BytesRejection, PathRejection, QueryRejection},
    },
    http::{StatusCode, Uri, request::Parts},
};
use leadline_protocol::{
    json::{DocumentError, parse_document},
    problem::Problem,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum size of a request body, in bytes.
pub(crate) const MAX_BODY: usize = 1024 * 1024;
/// Maximum number of problems of a query string.
const MAX_PROBLEMS: usize = 20;

#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ApiError))]
pub(crate) struct Path<T>(pub T);

/// Query string. A rejection names every invalid parameter.
pub(crate) struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parse_query(&parts.uri).map(Self).map_err(|problem| {
            let mut problems = parameter_problems::<T>(parts.uri.query().unwrap_or_default());
            if problems.is_empty() {
                problems.push(problem);
            }
            problems.into()
        })
    }
}

/// Parses the parameters separately, because the parser stops at the first error.
fn parameter_problems<T: DeserializeOwned>(query: &str) -> Vec<Problem> {
    query
        .split('&')
        .filter_map(|parameter| format!("/?{parameter}").parse().ok())
        .filter_map(|uri| parse_query::<T>(&uri).err())
        // Required parameters are missing here; a named field is one that was sent.
        .filter(|problem| problem.field.is_some())
        .take(MAX_PROBLEMS)
        .collect()
}

fn parse_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    match axum::extract::Query::try_from_uri(uri) {
        Ok(axum::extract::Query(query)) => Ok(query),
        Err(rejection) => Err(query_problem(&rejection)),
    }
}

fn query_problem(rejection: &QueryRejection) -> Problem {
    // Such as `Failed to deserialize query string: limit: invalid digit found in string`.
    let text = rejection.body_text();
    let detail = text.split_once(": ").map_or(text.as_str(), |split| split.1);
    let field = detail.split_once(": ").map_or("", |split| split.0);
    let detail = format!("Invalid query: {detail}.");
    Problem::invalid("bad_query", field, detail, "See /api/docs.")
}

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
