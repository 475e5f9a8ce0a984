//! The web application, embedded by `build.rs`.

use axum::{Router, http::StatusCode, response::Html, routing::get};
use memory_serve::CacheControl;

const INDEX: &str = "/index.html";

const NOT_BUILT: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Leadline</title>\
    <h1>Leadline</h1><p>This build does not include the web application. Run <code>make build</code>, \
    or use the <a href=/api/docs>HTTP API</a>.</p></html>";

/// Serves all paths outside `/api` and `/login`. Paths without a file are client-side routes and
/// get the index page.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let assets = memory_serve::load!();
    if assets.manifest().get(INDEX).is_none() {
        return Router::new()
            .route("/", get(|| async { Html(NOT_BUILT) }))
            .fallback(|| async { (StatusCode::NOT_FOUND, Html(NOT_BUILT)) });
    }
    assets
        .index_file(Some(INDEX))
        .fallback(Some(INDEX))
        .fallback_status(StatusCode::OK)
        .html_cache_control(CacheControl::NoCache)
        .into_router()
}
