//! The route table and its middleware.

use crate::{
    api::{
        API, annotations, assets, auth, compare, docs, export, extract::MAX_BODY, flame,
        foreign_results, headers, health, hosts, import, metrics, openapi::ApiDoc,
        problem::ApiError, query_string, runs, saved_study, schedules, settings, state::AppState,
        streams, studies, trends, webhooks,
    },
    error::Error,
};
use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    http::{Method, StatusCode, Uri},
    middleware::{from_fn, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use std::{any::Any, time::Duration};
use tower_http::{
    catch_panic::CatchPanicLayer,
    compression::{
        CompressionLayer,
        predicate::{DefaultPredicate, NotForContentType, Predicate},
    },
    timeout::RequestBodyTimeoutLayer,
};
use utoipa::{OpenApi, openapi::OpenApi as Document};
use utoipa_axum::{router::OpenApiRouter, routes};

/// Maximum time between two chunks of a request body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

fn endpoints() -> OpenApiRouter<AppState> {
    let endpoints = OpenApiRouter::new()
        .routes(routes!(auth::login::get_session))
        .routes(routes!(auth::login::create_login_link))
        .routes(routes!(metrics::get_metrics))
        .routes(routes!(hosts::list_hosts))
        .routes(routes!(hosts::get_host))
        .routes(routes!(hosts::list_devices))
        .routes(routes!(hosts::list_options))
        .routes(routes!(runs::plan_run))
        .routes(routes!(import::import_jobs))
        .routes(routes!(runs::list_runs, runs::create_run))
        .routes(routes!(runs::get_run, runs::patch_run, runs::delete_run))
        .routes(routes!(runs::cancel_run))
        .routes(routes!(runs::rerun_run))
        .routes(routes!(runs::get_series))
        .routes(routes!(annotations::create_annotation))
        .routes(routes!(annotations::delete_annotation))
        .routes(routes!(streams::stream_run))
        .routes(routes!(export::export_run))
        .routes(routes!(flame::run_flame))
        .routes(routes!(streams::stream_runs))
        .routes(routes!(studies::list_studies, studies::create_study))
        .routes(routes!(studies::plan_study))
        .routes(routes!(
            studies::get_study,
            studies::patch_study,
            studies::delete_study
        ))
        .routes(routes!(studies::get_procedure))
        .routes(routes!(saved_study::save_study))
        .routes(routes!(studies::cancel_study))
        .routes(routes!(studies::list_experiments))
        .routes(routes!(compare::compare_runs))
        .routes(routes!(compare::compare_series))
        .routes(routes!(compare::compare_csv))
        .routes(routes!(compare::compare_markdown))
        .routes(routes!(compare::compare_html))
        .routes(routes!(flame::difference_flame))
        .routes(routes!(
            schedules::list_schedules,
            schedules::create_schedule
        ))
        .routes(routes!(schedules::plan_schedule))
        .routes(routes!(
            schedules::get_schedule,
            schedules::replace_schedule,
            schedules::delete_schedule
        ))
        .routes(routes!(webhooks::list_webhooks, webhooks::create_webhook))
        .routes(routes!(
            webhooks::get_webhook,
            webhooks::replace_webhook,
            webhooks::delete_webhook
        ))
        .routes(routes!(webhooks::test_webhook))
        .routes(routes!(settings::get_settings, settings::replace_settings))
        .routes(routes!(trends::list_trends))
        .routes(routes!(trends::get_trend))
        .routes(routes!(trends::pin_baseline, trends::unpin_baseline));
    let endpoints = endpoints.merge(
        OpenApiRouter::new()
            .routes(routes!(foreign_results::import_result))
            .layer(DefaultBodyLimit::max(foreign_results::MAX_RESULT)),
    );
    OpenApiRouter::with_openapi(ApiDoc::openapi()).nest(API, endpoints)
}

/// Health checks, which require neither a token nor an allowed host name.
fn probes() -> OpenApiRouter<AppState> {
    let probes = OpenApiRouter::new()
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz));
    OpenApiRouter::new().nest(API, probes)
}

/// The endpoints, the health checks, and the document that describes both.
fn parts() -> (Router<AppState>, Router<AppState>, Document) {
    let (endpoints, mut document) = endpoints().split_for_parts();
    let (probes, probes_document) = probes().split_for_parts();
    document.merge(probes_document);
    (endpoints, probes, document)
}

/// Middleware order, outermost first: panic handler, metrics, security headers, `Host` check,
/// compression, access control (`/api` only), rejection of unknown parameters (`/api/v1` only).
pub(crate) fn router(state: AppState) -> Router {
    let (endpoints, probes, document) = parts();
    let without_query = query_string::without_query(&document);
    let api = endpoints
        .layer(from_fn_with_state(
            without_query,
            query_string::reject_unknown,
        ))
        .route("/api/openapi.json", get(async || Json(document)))
        .merge(docs::router())
        .route("/api", any(not_found))
        .route("/api/", any(not_found))
        .route("/api/{*rest}", any(not_found))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(RequestBodyTimeoutLayer::new(BODY_TIMEOUT))
        .layer(map_response(headers::disable_caching))
        .layer(from_fn_with_state(state.auth.clone(), auth::require_access));
    // Not compressed, because compression buffers data and would delay streamed events.
    let compression = CompressionLayer::new().compress_when(
        DefaultPredicate::new().and(NotForContentType::const_new("application/x-ndjson")),
    );
    Router::new()
        .route("/login", assets::index().post(auth::login::login))
        .route("/logout", post(auth::login::logout))
        .merge(assets::router())
        .merge(api)
        .layer(compression)
        .layer(from_fn_with_state(state.auth.clone(), auth::require_host))
        .merge(probes.layer(map_response(headers::disable_caching)))
        .layer(map_response(headers::add_security_headers))
        .layer(from_fn(metrics::record))
        .layer(CatchPanicLayer::custom(handle_panic))
        .with_state(state)
}

/// The OpenAPI 3.1 document, indented and with a trailing newline.
///
/// # Panics
/// If the document cannot be serialized, which is a bug.
pub fn openapi_json() -> String {
    let (_, _, document) = parts();
    document
        .to_pretty_json()
        .expect("the document is serializable")
        + "\n"
}

async fn not_found(uri: Uri) -> ApiError {
    ApiError::not_found(format!("endpoint {}", uri.path()))
}

async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    ApiError::Request {
        status: StatusCode::METHOD_NOT_ALLOWED,
        code: "wrong_method",
        detail: format!("{} does not support {method}. See /api/docs.", uri.path()),
    }
}

fn handle_panic(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or_default();
    let error = anyhow::anyhow!("handler panicked: {message}");
    ApiError::from(Error::Internal(error)).into_response()
}

#[cfg(test)]
mod tests {
    use super::{CatchPanicLayer, Router, StatusCode, get, handle_panic};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn handler_panic_fails_only_its_request() {
        let routes = Router::new()
            .route("/panics", get(async || -> StatusCode { panic!("broken") }))
            .route("/works", get(async || StatusCode::OK))
            .layer(CatchPanicLayer::custom(handle_panic));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, routes).into_future());
        for (path, status) in [("works", 200), ("panics", 500), ("works", 200)] {
            let url = format!("http://{address}/{path}");
            let response = reqwest::get(url).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{path}");
            let text = response.text().await.unwrap();
            assert!(!text.contains("broken"), "{text}");
        }
    }
}
