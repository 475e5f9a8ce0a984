//! Access control by token, `Host` and `Origin`, on all routes and WebSockets.

use crate::program::Program;
use reqwest::{Method, StatusCode, header};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite;

/// All OpenAPI endpoints that require a token.
pub(crate) fn endpoints() -> Vec<(Method, String)> {
    let document: Value =
        serde_json::from_str(&leadline_server::api::routes::openapi_json()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let is_probe = |path: &str| path.ends_with("/livez") || path.ends_with("/readyz");
    let paths = paths.iter().filter(|(path, _)| !is_probe(path));
    let endpoints = paths.flat_map(|(path, endpoints)| {
        endpoints
            .as_object()
            .unwrap()
            .keys()
            .map(move |method| (method, path))
    });
    endpoints
        .map(|(method, path)| {
            (
                method.to_uppercase().parse().unwrap(),
                path.replace("{n}", "1").replace("{host}", "local"),
            )
        })
        .collect()
}

#[tokio::test]
async fn requests_without_a_token_return_401() {
    let server = Program::start().await;
    let other_paths = [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/nothing",
        "/api/openapi.json",
        "/api/docs/",
        "/api/docs/index.html",
    ];
    let all = endpoints()
        .into_iter()
        .chain(other_paths.map(|path| (Method::GET, path.to_owned())));
    for (method, path) in all {
        for token in [
            None,
            Some("x".to_owned()),
            Some(String::new()),
            Some(server.token[1..].to_owned()),
            Some(format!("{}0", server.token)),
        ] {
            let mut request = server.client.request(method.clone(), server.url(&path));
            if let Some(token) = &token {
                request = request.bearer_auth(token).header(
                    header::COOKIE,
                    format!(
                        "leadline-{}={token}",
                        server.address.rsplit(':').next().unwrap()
                    ),
                );
            }
            let (status, body) = server.send(request).await;
            assert_eq!(
                (status, body["code"].as_str()),
                (StatusCode::UNAUTHORIZED, Some("unauthorized")),
                "{method} {path} {token:?}"
            );
        }
    }
}

#[tokio::test]
async fn api_reference_is_served_to_clients_with_a_token() {
    let server = Program::start().await;
    for (path, part) in [
        ("/api/openapi.json", "\"openapi\":\"3.1.0\""),
        ("/api/docs/", "swagger-ui"),
        ("/api/docs/viewer.js", "/api/openapi.json"),
    ] {
        let response = server
            .client
            .get(server.url(path))
            .bearer_auth(&server.token)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let text = response.text().await.unwrap();
        assert!(text.contains(part), "{path}");
        assert!(
            !text.contains("src=\"http"),
            "{path} loads from another host"
        );
    }
}

#[tokio::test]
async fn all_routes_reject_disallowed_hosts() {
    let server = Program::start().await;
    let port = server.address.rsplit(':').next().unwrap();
    let routes = endpoints().into_iter().chain(
        [
            "/",
            "/login",
            "/login?token=x",
            "/api/openapi.json",
            "/some/page",
        ]
        .map(|path| (Method::GET, path.to_owned())),
    );
    for (method, path) in routes {
        for host in [
            "evil.example",
            &format!("evil.example:{port}"),
            "",
            "127.0.0.1.evil.example",
            "169.254.169.254",
        ] {
            let request = server
                .client
                .request(method.clone(), server.url(&path))
                .bearer_auth(&server.token)
                .header(header::HOST, host);
            let (status, body) = server.send(request).await;
            assert_eq!(
                (status, body["code"].as_str()),
                (StatusCode::FORBIDDEN, Some("foreign_host")),
                "{method} {path} {host}"
            );
        }
    }
    for host in [
        "localhost",
        &format!("localhost:{port}"),
        &format!("[::1]:{port}"),
        "127.0.0.1",
    ] {
        let (status, _) = server
            .send(
                server
                    .request(Method::GET, "/options")
                    .header(header::HOST, host),
            )
            .await;
        assert_eq!(status, StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn requests_without_a_host_return_403() {
    let server = Program::start().await;
    for request in [
        "GET /api/v1/options HTTP/1.1\r\n\r\n",
        "GET /api/v1/options HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(&server.address).await.unwrap();
        stream
            .write_all(
                request
                    .replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n")
                    .as_bytes(),
            )
            .await
            .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(
            response.contains(" 403 ") && response.contains("foreign_host"),
            "{response}"
        );
    }
}

#[tokio::test]
async fn disallowed_origins_return_403_on_all_endpoints() {
    let server = Program::start().await;
    let port = server.address.rsplit(':').next().unwrap();
    for (method, path) in endpoints() {
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://localhost:1",
            &format!("http://localhost:{port}"),
            "http://127.0.0.1",
        ] {
            let request = server
                .client
                .request(method.clone(), server.url(&path))
                .bearer_auth(&server.token)
                .header(header::ORIGIN, origin);
            let (status, body) = server.send(request).await;
            assert_eq!(
                (status, body["code"].as_str()),
                (StatusCode::FORBIDDEN, Some("foreign_origin")),
                "{method} {path} {origin}"
            );
        }
    }
    let own = server
        .request(Method::POST, "/plan")
        .header(header::ORIGIN, format!("http://{}", server.address))
        .body("{}");
    assert_eq!(server.send(own).await.0, StatusCode::UNPROCESSABLE_ENTITY);
}

/// Tries to open a WebSocket. Returns 101, or the error status.
async fn open(server: &Program, path: &str, headers: &[(&str, &str)]) -> u16 {
    let stream = TcpStream::connect(&server.address).await.unwrap();
    let mut request = tungstenite::http::Request::builder()
        .uri(format!("ws://{}/api/v1{path}", server.address))
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    if !headers.iter().any(|header| header.0 == "host") {
        request = request.header("host", &server.address);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match tokio_tungstenite::client_async(request.body(()).unwrap(), stream).await {
        Ok(_) => 101,
        Err(tungstenite::Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn websockets_require_token_host_and_origin() {
    let server = Program::start().await;
    let number = server.queue(crate::program::job("a", "10ms")).await;
    let bearer = format!("Bearer {}", server.token);
    let cookie = server.sign_in(&server.token).await;
    let own = format!("http://{}", server.address);
    for path in ["/events".to_owned(), format!("/runs/{number}/stream")] {
        let cases: [(&[(&str, &str)], u16); 9] = [
            (&[], 401),
            (&[("authorization", "Bearer x")], 401),
            (&[("authorization", &bearer)], 101),
            (&[("authorization", &bearer), ("origin", &own)], 101),
            (
                &[
                    ("authorization", &bearer),
                    ("origin", "http://evil.example"),
                ],
                403,
            ),
            (&[("authorization", &bearer), ("host", "evil.example")], 403),
            (&[("cookie", &cookie), ("origin", &own)], 101),
            (&[("cookie", &cookie)], 403),
            (&[("cookie", &cookie), ("origin", "null")], 403),
        ];
        for (headers, expected) in cases {
            assert_eq!(
                open(&server, &path, headers).await,
                expected,
                "{path} {headers:?}"
            );
        }
    }
    assert_eq!(
        open(&server, "/runs/99/stream", &[("authorization", &bearer)]).await,
        404
    );
    let plain = server.request(Method::GET, "/events");
    assert_eq!(server.send(plain).await.0, StatusCode::UPGRADE_REQUIRED);
}

#[tokio::test]
async fn all_responses_contain_the_security_headers() {
    let server = Program::start().await;
    for path in ["/", "/login", "/api/v1/runs", "/nothing"] {
        let response = server.client.get(server.url(path)).send().await.unwrap();
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(
            policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert_eq!(
            response.headers()["x-content-type-options"],
            "nosniff",
            "{path}"
        );
        assert_eq!(
            response.headers()["referrer-policy"],
            "no-referrer",
            "{path}"
        );
    }
}
