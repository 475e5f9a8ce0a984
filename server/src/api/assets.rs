//! Serves the files of the web application. Release builds embed `web/dist`; development builds
//! read it from disk.

use axum::{
    Router,
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
    routing::{MethodRouter, get},
};
use flate2::read::GzDecoder;
use rust_embed::{EmbeddedFile, RustEmbed};
use std::{borrow::Cow, fmt::Write, io::Read};

/// To keep the server binary small, `vite.config.ts` compresses scripts and styles to `NAME.gz`.
/// They are decompressed here, and the compression layer compresses them again with an encoding
/// that the client accepts. Files of the web UI are also embedded as `NAME.br`, compressed at
/// Brotli's highest level, which is too slow for compressing each response. Clients that accept
/// Brotli receive these files unchanged.
#[derive(RustEmbed)]
#[folder = "../web/dist"]
struct Dist;

const INDEX: &str = "index.html";
/// Page built by `vite.saved.config.ts`.
const SAVED_PAGE: &str = "saved-page.html";
const PLACEHOLDER: &str = r#"<script id="saved" type="application/json">{}"#;
/// Directory of files whose names contain a content hash.
const HASHED: &str = "assets/";

const NOT_BUILT: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Leadline</title>\
    <h1>Leadline</h1><p>This build does not include the web application. Run <code>make build</code>, \
    or use the <a href=/api/docs>HTTP API</a>.</p></html>";

/// Serves all paths outside `/api`. Paths that match no file are client-side routes, for which the
/// index page is served.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    if Dist::get(INDEX).is_none() {
        return Router::new()
            .route("/", get(|| async { Html(NOT_BUILT) }))
            .fallback(|| async { (StatusCode::NOT_FOUND, Html(NOT_BUILT)) });
    }
    Router::new().fallback_service(get(serve))
}

/// Serves the index page on routes that also handle other methods.
pub(crate) fn index<S: Clone + Send + Sync + 'static>() -> MethodRouter<S> {
    if Dist::get(INDEX).is_none() {
        return get(|| async { Html(NOT_BUILT) });
    }
    get(serve)
}

/// A page that works without a server: the built page with `data` in its placeholder. `None` if
/// this build does not include the web application.
pub(crate) fn saved_page(data: &str) -> Option<String> {
    let page = String::from_utf8(find(SAVED_PAGE)?.data.into_owned()).ok()?;
    let (before, after) = page.split_once(PLACEHOLDER)?;
    let tag = PLACEHOLDER.trim_end_matches("{}");
    // In a script element, `<` could end the element or start a comment.
    let data = data.replace('<', "\\u003c");
    Some([before, tag, &data, after].concat())
}

async fn serve(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let brotli = if accepts_brotli(&headers) {
        Dist::get(&format!("{path}.br"))
    } else {
        None
    };
    if let Some(file) = brotli {
        let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("br"))];
        return (encoding, respond(path, file, &headers)).into_response();
    }
    let (name, file) = match find(path) {
        Some(file) => (path, file),
        None => match find(INDEX) {
            Some(file) => (INDEX, file),
            None => return StatusCode::NOT_FOUND.into_response(),
        },
    };
    respond(name, file, &headers)
}

/// Whether `Accept-Encoding` accepts Brotli: a weight of zero means that it does not.
fn accepts_brotli(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = parameters.trim().strip_prefix("q=");
        let is_zero = weight.is_some_and(|weight| weight.parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("br") && !is_zero
    })
}

fn respond(name: &str, file: EmbeddedFile, headers: &HeaderMap) -> Response {
    let caching = if name.starts_with(HASHED) {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let etag = etag(&file);
    let vary = HeaderValue::from_static("accept-encoding");
    let is_current = headers.get(header::IF_NONE_MATCH) == Some(&etag);
    let cache_headers = [
        (header::ETAG, etag),
        (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
        (header::VARY, vary),
    ];
    if is_current {
        return (StatusCode::NOT_MODIFIED, cache_headers).into_response();
    }
    let content_type = [(header::CONTENT_TYPE, content_type(name))];
    (cache_headers, content_type, file.data).into_response()
}

/// Returns the decompressed file.
fn find(name: &str) -> Option<EmbeddedFile> {
    let Some(mut file) = Dist::get(&format!("{name}.gz")) else {
        return Dist::get(name);
    };
    let mut content = Vec::new();
    let mut decoder = GzDecoder::new(&*file.data);
    decoder.read_to_end(&mut content).ok()?;
    file.data = Cow::Owned(content);
    Some(file)
}

/// Quoted SHA-256 of the file.
fn etag(file: &EmbeddedFile) -> HeaderValue {
    let mut quoted = String::from("\"");
    for byte in file.metadata.sha256_hash() {
        let _ = write!(quoted, "{byte:02x}");
    }
    quoted.push('"');
    HeaderValue::try_from(quoted).expect("hexadecimal digits are a valid header value")
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brotli_is_used_only_if_the_client_accepts_it() {
        for (value, expected) in [
            ("gzip, deflate, br, zstd", true),
            ("br;q=0.5", true),
            ("gzip;q=1, BR", true),
            ("br;q=0", false),
            ("br; q=0.0, gzip", false),
            ("gzip, deflate", false),
            ("brotli", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(accepts_brotli(&headers), expected, "{value}");
        }
        assert!(!accepts_brotli(&HeaderMap::new()));
    }
}
