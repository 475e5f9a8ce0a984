//! The pages: the built web application, embedded by `build.rs`. Without it, one page that says how to build it.

use axum::Router;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;

/// The page that loads the application; every address without a file of its own is one of its pages.
const INDEX: &str = "/index.html";

const NOT_BUILT: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Leadline</title>\
    <h1>Leadline</h1><p>The web pages are not part of this build. Build them with <code>make build</code>, \
    or use the HTTP interface: <a href=/api/docs>/api/docs</a>.</p></html>";

/// Everything outside `/api` and `/login`.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let pages = memory_serve::load!();
    if pages.manifest().get(INDEX).is_none() {
        return Router::new()
            .route("/", get(|| async { Html(NOT_BUILT) }))
            .fallback(|| async { (StatusCode::NOT_FOUND, Html(NOT_BUILT)) });
    }
    pages
        .index_file(Some(INDEX))
        .fallback(Some(INDEX))
        .fallback_status(StatusCode::OK)
        .html_cache_control(memory_serve::CacheControl::NoCache)
        .into_router()
}
