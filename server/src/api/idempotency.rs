//! The `Idempotency-Key` header, and responses to requests that accept it.

use crate::{
    api::{API, problem::ApiError},
    error::Error,
    store::keys::IdempotencyKey,
};
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::IntoParams;

/// Maximum length of a key, in bytes.
const MAX_KEY: usize = 255;

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "only the derived schema is used")]
pub(crate) struct IdempotencyHeader {
    /// 1 to 255 ASCII characters; valid for one day.
    #[param(rename = "Idempotency-Key", min_length = 1, max_length = 255)]
    key: Option<String>,
}

/// `call`: the request's method and path. Reusing a key with a different path or body is an error.
pub(crate) fn key(
    headers: &HeaderMap,
    call: &str,
    body: &[u8],
) -> Result<Option<IdempotencyKey>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    if !(1..=MAX_KEY).contains(&key.len()) {
        return Err(Error::invalid(
            "bad_value",
            "Idempotency-Key",
            "The idempotency key is invalid.",
            format!("Send 1 to {MAX_KEY} ASCII characters, for example a UUID."),
        )
        .into());
    }
    let hash = Sha256::new()
        .chain_update(call)
        .chain_update([0])
        .chain_update(body);
    Ok(Some(IdempotencyKey {
        key: key.into(),
        request_sha256: hash.finalize().into(),
    }))
}

/// Returns 201 with `Location`. `replayed`: whether an earlier request with the same key created
/// `resource`.
pub(crate) fn created<T: Serialize>(path: &str, resource: T, replayed: bool) -> Response {
    let mut headers = HeaderMap::new();
    if let Ok(location) = HeaderValue::try_from(format!("{API}{path}")) {
        headers.insert(header::LOCATION, location);
    }
    if replayed {
        headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    (StatusCode::CREATED, headers, Json(resource)).into_response()
}
