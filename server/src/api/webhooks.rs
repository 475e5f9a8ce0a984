//! Webhook handlers. A read-only token can list webhooks, but cannot change or test them.

use crate::{
    api::{
        API,
        extract::{JsonBody, Path},
        problem::{ApiError, ProblemResponses},
        webhook_requests::webhook_request,
    },
    runs::Runs,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header::LOCATION},
    response::IntoResponse,
};
use leadline_protocol::webhook::{Webhook, WebhookList, WebhookRequest};

/// List all webhooks with their latest messages
///
/// Secrets and URL paths are not returned.
#[utoipa::path(get, path = "/webhooks", tag = "webhooks",
    responses((status = 200, body = WebhookList), ProblemResponses))]
pub(crate) async fn list_webhooks(State(runs): State<Runs>) -> Result<Json<WebhookList>, ApiError> {
    Ok(Json(runs.webhooks().await?))
}

/// Create a webhook
///
/// Messages use the `WebhookMessage` format and the Standard Webhooks headers.
#[utoipa::path(post, path = "/webhooks", tag = "webhooks", request_body = WebhookRequest,
    responses((status = 201, body = Webhook), ProblemResponses))]
pub(crate) async fn create_webhook(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<impl IntoResponse, ApiError> {
    let request = webhook_request(body.parse()?, true)?;
    let webhook = runs.create_webhook(request).await?;
    let location = format!("{API}/webhooks/{}", webhook.number);
    Ok((StatusCode::CREATED, [(LOCATION, location)], Json(webhook)))
}

/// Get a webhook with its latest messages
#[utoipa::path(get, path = "/webhooks/{n}", tag = "webhooks",
    responses((status = 200, body = Webhook), ProblemResponses))]
pub(crate) async fn get_webhook(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<Json<Webhook>, ApiError> {
    Ok(Json(runs.webhook(n).await?))
}

/// Change a webhook
///
/// Optional fields that are missing keep their values.
#[utoipa::path(put, path = "/webhooks/{n}", tag = "webhooks", request_body = WebhookRequest,
    responses((status = 200, body = Webhook), ProblemResponses))]
pub(crate) async fn replace_webhook(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    body: JsonBody,
) -> Result<Json<Webhook>, ApiError> {
    let request = webhook_request(body.parse()?, false)?;
    Ok(Json(runs.replace_webhook(n, request).await?))
}

/// Delete a webhook and its messages
#[utoipa::path(delete, path = "/webhooks/{n}", tag = "webhooks",
    responses((status = 204, description = "Deleted"), ProblemResponses))]
pub(crate) async fn delete_webhook(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<StatusCode, ApiError> {
    runs.delete_webhook(n).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Send a test message
#[utoipa::path(post, path = "/webhooks/{n}/test", tag = "webhooks",
    responses((status = 202, body = Webhook), ProblemResponses))]
pub(crate) async fn test_webhook(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<(StatusCode, Json<Webhook>), ApiError> {
    Ok((StatusCode::ACCEPTED, Json(runs.test_webhook(n).await?)))
}
