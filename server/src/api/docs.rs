//! The API reference: Swagger UI. Its script and style sheet are part of the web build.

use axum::{Router, http::header::CONTENT_TYPE, response::Html, routing::get};

pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let page = get(async || Html(include_str!("docs/index.html")));
    let script = (
        [(CONTENT_TYPE, "text/javascript")],
        include_str!("docs/viewer.js"),
    );
    let style = (
        [(CONTENT_TYPE, "text/css")],
        include_str!("docs/viewer.css"),
    );
    Router::new()
        .route("/api/docs", page.clone())
        .route("/api/docs/", page.clone())
        .route("/api/docs/index.html", page)
        .route("/api/docs/viewer.js", get(async move || script))
        .route("/api/docs/viewer.css", get(async move || style))
}
