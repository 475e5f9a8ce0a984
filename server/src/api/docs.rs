//! The API reference: Swagger UI, whose script and style sheet are part of the web build.

use axum::Router;
use axum::http::header;
use axum::response::Html;
use axum::routing::get;

pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let page = get(async || Html(include_str!("docs/index.html")));
    let script = file("text/javascript", include_str!("docs/viewer.js"));
    let style = file("text/css", include_str!("docs/viewer.css"));
    Router::new()
        .route("/api/docs", page.clone())
        .route("/api/docs/", page.clone())
        .route("/api/docs/index.html", page)
        .route("/api/docs/viewer.js", get(async || script))
        .route("/api/docs/viewer.css", get(async || style))
}

type File = ([(header::HeaderName, &'static str); 1], &'static str);

fn file(media_type: &'static str, text: &'static str) -> File {
    ([(header::CONTENT_TYPE, media_type)], text)
}
