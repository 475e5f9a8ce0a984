//! Every route there is, and the OpenAPI document that follows from them.

use leadline_runner::event::Event;
use serde::{Deserialize, Serialize};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::runs::words::RunsEvent;
use crate::{compare, hosts, runs};

/// Where the calls live.
pub const API: &str = "/api/v1";

#[derive(OpenApi)]
#[openapi(
    info(title = "Leadline", description = "Storage benchmarks that show where the I/O really went.", contact(), license(name = "Apache-2.0", identifier = "Apache-2.0")),
    components(schemas(Event, RunsEvent)),
    tags(
        (name = "runs", description = "Plan, start, watch and keep runs"),
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
        let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        document.components.get_or_insert_default().add_security_scheme("token", scheme);
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
async fn healthz() -> axum::Json<Health> {
    axum::Json(Health { status: "ok".into(), version: env!("CARGO_PKG_VERSION").into() })
}

/// All calls under `/api/v1`, with their documentation.
pub fn api() -> OpenApiRouter<App> {
    let calls = OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(hosts::list_hosts))
        .routes(routes!(hosts::get_host))
        .routes(routes!(hosts::list_devices))
        .routes(routes!(hosts::list_options))
        .routes(routes!(runs::http::plan_run))
        .routes(routes!(runs::http::list_runs, runs::http::create_run))
        .routes(routes!(runs::http::get_run, runs::http::patch_run, runs::http::delete_run))
        .routes(routes!(runs::http::cancel_run))
        .routes(routes!(runs::http::rerun_run))
        .routes(routes!(runs::http::get_series))
        .routes(routes!(runs::http::stream_run))
        .routes(routes!(runs::http::export_run))
        .routes(routes!(runs::http::stream_runs))
        .routes(routes!(compare::http::compare_runs));
    OpenApiRouter::with_openapi(ApiDoc::openapi()).nest(API, calls)
}

/// The OpenAPI 3.1 document as indented JSON, ending in a newline.
///
/// # Panics
/// Never: the document is plain data.
pub fn openapi_json() -> String {
    let mut text = api().into_openapi().to_pretty_json().expect("an OpenAPI document is JSON");
    text.push('\n');
    text
}
