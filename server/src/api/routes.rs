//! Every route there is, what stands in front of them, and the OpenAPI document that follows from them.

use crate::api;
use crate::api::app::App;
use crate::api::extract::MAX_BODY;
use crate::api::{assets, auth, hosts, metrics};
use crate::error::ApiError;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use leadline_protocol::event::Event;
use leadline_protocol::query::{ExportFormat, RunSort, SortOrder};
use leadline_protocol::run::RunsEvent;
use serde::{Deserialize, Serialize};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::SwaggerUi;

/// Where the calls live.
pub const API: &str = "/api/v1";

/// What every answer carries. Scripts and sockets come from this server only; styles may stand in elements, because
/// the component library writes them there.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; \
         connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=()",
    ),
];

#[derive(OpenApi)]
#[openapi(
    info(title = "Leadline", description = "Storage benchmarks that show where the I/O really went.", contact(), license(name = "Apache-2.0", identifier = "Apache-2.0")),
    components(schemas(Event, RunsEvent, RunSort, SortOrder, ExportFormat, crate::query::flame::Theme)),
    tags(
        (name = "runs", description = "Plan, start, watch and keep runs"),
        (name = "studies", description = "Ordered runs started together, and the experiments to begin with"),
        (name = "compare", description = "Runs side by side"),
        (name = "hosts", description = "Hosts, their devices and what they can do"),
        (name = "server", description = "The server itself")
    ),
    security(("token" = [])),
    modifiers(&Token)
)]
struct ApiDoc;

/// The token in the document: `Authorization: Bearer TOKEN`. The cookie of the login link does the same.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme =
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("token", scheme);
    }
}

/// Whether the server is ready.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: String,
    /// Version of the server.
    pub version: String,
}

/// Whether the server is ready.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, body = Health)))]
async fn healthz() -> Json<Health> {
    Json(Health {
        status: "ok".into(),
        version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// All calls under `/api/v1`, with their documentation.
fn api() -> OpenApiRouter<App> {
    let calls = OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(metrics::get_metrics))
        .routes(routes!(hosts::list_hosts))
        .routes(routes!(hosts::get_host))
        .routes(routes!(hosts::list_devices))
        .routes(routes!(hosts::list_options))
        .routes(routes!(api::runs::plan_run))
        .routes(routes!(api::runs::list_runs, api::runs::create_run))
        .routes(routes!(
            api::runs::get_run,
            api::runs::patch_run,
            api::runs::delete_run
        ))
        .routes(routes!(api::runs::cancel_run))
        .routes(routes!(api::runs::rerun_run))
        .routes(routes!(api::runs::get_series))
        .routes(routes!(api::runs::stream_run))
        .routes(routes!(api::runs::export_run))
        .routes(routes!(api::flame::run_flame))
        .routes(routes!(api::runs::stream_runs))
        .routes(routes!(
            api::studies::list_studies,
            api::studies::create_study
        ))
        .routes(routes!(api::studies::plan_study))
        .routes(routes!(api::studies::get_study))
        .routes(routes!(api::studies::cancel_study))
        .routes(routes!(api::studies::list_experiments))
        .routes(routes!(api::compare::compare_runs))
        .routes(routes!(api::flame::difference_flame));
    OpenApiRouter::with_openapi(ApiDoc::openapi()).nest(API, calls)
}

/// The whole server. A request meets, in this order: panics caught, counted, headers, names, token (under `/api`).
pub(crate) fn router(app: App) -> Router {
    let (calls, document) = api().split_for_parts();
    // A stream must not wait in a compressor until there is enough of it.
    let compressed = CompressionLayer::new().compress_when(
        DefaultPredicate::new().and(NotForContentType::const_new("application/x-ndjson")),
    );
    let api = calls
        .merge(SwaggerUi::new("/api/docs").url("/api/openapi.json", document))
        .route(&format!("{API}/import"), axum::routing::post(not_built))
        .route("/api", axum::routing::any(no_call))
        .route("/api/", axum::routing::any(no_call))
        .route("/api/{*rest}", axum::routing::any(no_call))
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(map_response(never_stored))
        .layer(from_fn_with_state(app.auth.clone(), auth::guard_token));
    Router::new()
        .route("/login", axum::routing::get(auth::login))
        .merge(assets::router())
        .merge(api)
        .layer(compressed)
        .layer(from_fn_with_state(app.auth.clone(), auth::guard_names))
        .layer(map_response(with_headers))
        .layer(from_fn(metrics::count))
        .layer(CatchPanicLayer::custom(panicked))
        .with_state(app)
}

async fn no_call(uri: Uri) -> ApiError {
    ApiError::NotFound {
        what: format!("call {}", uri.path()),
    }
}

async fn not_built() -> ApiError {
    ApiError::NotBuilt {
        what: "Reading jobs of other tools",
        remedy: "Write them as JSON in fio's words, with POST /api/v1/plan.",
    }
}

async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    let detail = format!(
        "{} does not take {method}. See /api/docs for what it takes.",
        uri.path()
    );
    ApiError::Unreadable {
        status: StatusCode::METHOD_NOT_ALLOWED,
        code: "wrong_method",
        detail,
    }
}

async fn with_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    response
}

/// What runs say changes all the time, and is nobody's business who comes later to the same browser.
async fn never_stored(mut response: Response) -> Response {
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    ApiError::Internal(anyhow::anyhow!(
        "a handler panicked: {}",
        text.unwrap_or_default()
    ))
    .into_response()
}

/// The OpenAPI 3.1 document as indented JSON, ending in a newline.
///
/// # Panics
/// Never: the document is plain data.
pub fn openapi_json() -> String {
    let mut text = api()
        .into_openapi()
        .to_pretty_json()
        .expect("an OpenAPI document is JSON");
    text.push('\n');
    text
}
