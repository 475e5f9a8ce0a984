//! Serving the files of the web application.

use crate::program::Program;
use flate2::read::GzDecoder;
use reqwest::{Response, StatusCode, header};
use std::{io::Read, path::Path};

fn header_text(response: &Response, name: header::HeaderName) -> &str {
    let value = response.headers().get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn scripts_are_served_compressed_and_cached() {
    let server = Program::start().await;
    let get = |path: &str| server.client.get(server.url(path));
    let page = get("/runs/1").send().await.unwrap();
    if !Path::new("../web/dist/index.html").exists() {
        assert_eq!(page.status(), StatusCode::NOT_FOUND);
        return;
    }
    assert_eq!(header_text(&page, header::CACHE_CONTROL), "no-cache");
    assert_eq!(
        header_text(&page, header::CONTENT_TYPE),
        "text/html; charset=utf-8"
    );
    let page_policy = page.headers().get("content-security-policy").cloned();
    let html = page.text().await.unwrap();
    // A short script with the bundler's helper functions comes first.
    let mut scripts = html.split('"').filter(|text| text.ends_with(".js"));
    let script = scripts.next_back().unwrap();

    let plain = get(script).send().await.unwrap();
    assert_eq!(
        header_text(&plain, header::CACHE_CONTROL),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(header_text(&plain, header::CONTENT_ENCODING), "");
    let etag = header_text(&plain, header::ETAG).to_owned();
    assert!(page_policy.is_some() && !plain.headers().contains_key("content-security-policy"));
    let content = plain.bytes().await.unwrap();
    assert!(content.len() > 1000, "{content:?}");

    let request = get(script).header(header::ACCEPT_ENCODING, "gzip");
    let compressed = request.send().await.unwrap();
    assert_eq!(header_text(&compressed, header::CONTENT_ENCODING), "gzip");
    let mut decompressed = Vec::new();
    GzDecoder::new(&*compressed.bytes().await.unwrap())
        .read_to_end(&mut decompressed)
        .unwrap();
    assert_eq!(decompressed, content);

    let request = get(script).header(header::IF_NONE_MATCH, etag);
    let unchanged = request.send().await.unwrap();
    assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
    assert!(unchanged.bytes().await.unwrap().is_empty());
}
