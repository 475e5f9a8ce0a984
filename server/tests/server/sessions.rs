//! Sign-in, sessions, and tokens with reduced permissions.

use crate::program::{Program, command, job};
use reqwest::{Method, RequestBuilder, Response, StatusCode, header};
use serde_json::{Value, json};
use std::{os::unix::fs::PermissionsExt, path::Path, sync::Arc};

const READ: &str = "read-token-0123456789";
const METRICS: &str = "metrics-token-0123456789";

async fn login(server: &Program, body: Value) -> Response {
    let request = server.client.post(server.url("/login")).json(&body);
    request.send().await.unwrap()
}

/// A request from one of the server's pages, with a cookie.
fn page(server: &Program, method: Method, path: &str, cookie: &str) -> RequestBuilder {
    server
        .client
        .request(method, server.url(path))
        .header(header::ORIGIN, format!("http://{}", server.address))
        .header(header::COOKIE, cookie)
}

async fn status(request: RequestBuilder) -> StatusCode {
    request.send().await.unwrap().status()
}

#[tokio::test]
async fn cookie_contains_a_session_and_not_the_token() {
    let server = Program::start().await;
    let response = login(&server, json!({"token": server.token})).await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&server.token), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let runs = |cookie: String| page(&server, Method::GET, "/api/v1/runs", &cookie);
    assert_eq!(
        status(runs(format!("other=1; {cookie}"))).await,
        StatusCode::OK
    );
    let (name, secret) = cookie.split_once('=').unwrap();
    // Browsers also send the cookie to other local servers, which must not be able to use its
    // secret as a token. Nor is a token valid as a cookie's secret.
    let as_token = server
        .client
        .get(server.url("/api/v1/runs"))
        .bearer_auth(secret);
    assert_eq!(status(as_token).await, StatusCode::UNAUTHORIZED);
    let token_as_secret = format!("{name}={}", server.token);
    assert_eq!(
        status(runs(token_as_secret)).await,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn invalid_sign_ins_are_rejected() {
    let server = Program::start().await;
    for body in [
        json!({}),
        json!({"token": ""}),
        json!({"token": "wrong"}),
        json!({"token": server.token, "ticket": "x"}),
        json!({"token": [server.token]}),
        json!({"ticket": "0".repeat(64)}),
        json!({"name": server.token}),
    ] {
        let response = login(&server, body.clone()).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{body}");
        assert!(!response.headers().contains_key(header::SET_COOKIE));
    }
    let link = server
        .client
        .get(server.url(&format!("/login?token={}", server.token)));
    let response = link.send().await.unwrap();
    assert!(
        !response.headers().contains_key(header::SET_COOKIE),
        "a link has no side effects"
    );
    let foreign = server
        .client
        .post(server.url("/login"))
        .header(header::ORIGIN, "http://evil.example")
        .json(&json!({"token": server.token}));
    assert_eq!(status(foreign).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn session_ends_with_sign_out_and_survives_a_restart() {
    let server = Program::start().await;
    let (first, second) = (
        server.sign_in(&server.token).await,
        server.sign_in(&server.token).await,
    );
    let sign_out = page(&server, Method::POST, "/logout", &first);
    assert_eq!(status(sign_out).await, StatusCode::NO_CONTENT);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let directory = server.kill().await;
    let database = std::fs::read(directory.path().join("data/leadline.db")).unwrap();
    let secret = second.split_once('=').unwrap().1.as_bytes();
    assert!(!database.windows(secret.len()).any(|found| found == secret));
    let server = Program::start_in(directory, &["--listen", &format!("127.0.0.1:{port}")]).await;
    let runs = |cookie: &str| page(&server, Method::GET, "/api/v1/runs", cookie);
    assert_eq!(status(runs(&first)).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(runs(&second)).await, StatusCode::OK);
    let session = server
        .send(page(&server, Method::GET, "/api/v1/session", &second))
        .await
        .1;
    assert_eq!(session, json!({"read_only": false, "can_sign_out": true}));
}

#[tokio::test]
async fn changing_the_token_ends_all_sessions() {
    let server = Program::start().await;
    let cookie = server.sign_in(&server.token).await;
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let directory = server.kill().await;
    let arguments = [
        "--listen",
        &format!("127.0.0.1:{port}"),
        "--token",
        "another-token-0123456789",
    ];
    let server = Program::start_in(directory, &arguments).await;
    let runs = page(&server, Method::GET, "/api/v1/runs", &cookie);
    assert_eq!(status(runs).await, StatusCode::UNAUTHORIZED);
}

/// Runs `leadline login` for a server's data directory.
async fn login_command(directory: &Path) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_leadline");
    let mut command = tokio::process::Command::new(program);
    command.args(["login", "--data-dir"]).arg(directory);
    command.env_remove("LEADLINE_TOKEN").output().await.unwrap()
}

#[tokio::test]
async fn login_command_prints_a_link_that_works_once() {
    let server = Program::start().await;
    let output = login_command(server.data().as_path()).await;
    let link = String::from_utf8(output.stdout).unwrap();
    let (address, ticket) = link.trim().split_once("/login?ticket=").unwrap();
    assert_eq!(address, format!("http://{}", server.address));
    let shown = server.client.get(link.trim()).send().await.unwrap();
    assert!(
        !shown.headers().contains_key(header::SET_COOKIE),
        "a link has no side effects"
    );
    let first = login(&server, json!({"ticket": ticket})).await;
    assert_eq!(first.status(), StatusCode::NO_CONTENT);
    let again = login(&server, json!({"ticket": ticket})).await;
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
    let directory = server.kill().await;
    let output = login_command(&directory.path().join("data")).await;
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("the server is not running"), "{error}");
    let output = login_command(&directory.path().join("nothing")).await;
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("no server has used"), "{error}");
}

/// A service's standard output ends up in logs.
#[tokio::test]
async fn token_and_links_are_not_logged() {
    let mut server = Program::start().await;
    let sign_in = server.line().await.unwrap();
    assert!(sign_in.contains("leadline login --data-dir"), "{sign_in}");
    assert!(
        !sign_in.contains(&server.token) && !sign_in.contains("ticket"),
        "{sign_in}"
    );
}

#[tokio::test]
async fn tokens_with_reduced_permissions() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let arguments = ["--read-token", READ, "--metrics-token", METRICS];
    let server = Program::start_in(directory, &arguments).await;
    let number = server.queue(job("a", "10ms")).await;
    let run = format!("/runs/{number}");
    for (method, path, read, metrics) in [
        (Method::GET, "/runs", 200, 403),
        (Method::GET, "/metrics", 200, 200),
        (Method::GET, &run, 200, 403),
        (Method::POST, "/plan", 422, 403),
        (Method::POST, "/runs", 403, 403),
        (Method::PATCH, &run, 403, 403),
        (Method::DELETE, &run, 403, 403),
        (Method::POST, "/login-links", 403, 403),
    ] {
        for (token, expected) in [(READ, read), (METRICS, metrics)] {
            let request = server
                .client
                .request(method.clone(), server.url(&format!("/api/v1{path}")));
            let request = request.bearer_auth(token).json(&json!({}));
            assert_eq!(status(request).await, expected, "{method} {path} {token}");
        }
    }
    let cookie = server.sign_in(READ).await;
    let session = server
        .send(page(&server, Method::GET, "/api/v1/session", &cookie))
        .await
        .1;
    assert_eq!(session, json!({"read_only": true, "can_sign_out": true}));
    let change = page(&server, Method::DELETE, &format!("/api/v1{run}"), &cookie);
    let (code, problem) = server.send(change).await;
    assert_eq!(
        (code, problem["code"].as_str()),
        (StatusCode::FORBIDDEN, Some("read_only"))
    );
    let rejected = login(&server, json!({"token": METRICS})).await;
    assert_eq!(rejected.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn changes_with_a_cookie_require_the_same_origin() {
    let server = Program::start().await;
    let cookie = server.sign_in(&server.token).await;
    let own = format!("http://{}", server.address);
    let json_type = "application/json";
    let cases: [(&[(&str, &str)], u16); 7] = [
        (&[("origin", &own), ("content-type", json_type)], 422),
        (
            &[
                ("origin", &own),
                ("content-type", "application/json; charset=utf-8"),
            ],
            422,
        ),
        (
            &[
                ("sec-fetch-site", "same-origin"),
                ("content-type", json_type),
            ],
            422,
        ),
        (&[("content-type", json_type)], 403),
        (
            &[
                ("sec-fetch-site", "cross-site"),
                ("content-type", json_type),
            ],
            403,
        ),
        (&[("origin", &own), ("content-type", "text/plain")], 415),
        (&[("origin", &own)], 415),
    ];
    for (headers, expected) in cases {
        let request = server.client.post(server.url("/api/v1/runs"));
        let request = request.header(header::COOKIE, &cookie).body("{}");
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        assert_eq!(status(request).await, expected, "{headers:?}");
    }
    let script = server.request(Method::POST, "/runs").body("{}");
    assert_eq!(
        status(script).await,
        422,
        "a script with the token needs no headers"
    );
}

#[tokio::test]
async fn health_checks_require_neither_token_nor_host() {
    let server = Program::start().await;
    for path in ["/api/v1/livez", "/api/v1/readyz"] {
        let probe = server
            .client
            .get(server.url(path))
            .header(header::HOST, "10.1.2.3:7070");
        let (code, body) = server.send(probe).await;
        assert_eq!(
            (code, body["status"].as_str()),
            (StatusCode::OK, Some("ok")),
            "{path}"
        );
    }
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let server = Program::start_in(directory, &["--runner", "/nothing"]).await;
    let (code, body) = server
        .send(server.client.get(server.url("/api/v1/readyz")))
        .await;
    assert_eq!(code, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["reasons"], json!(["the runner program is missing"]));
    assert_eq!(
        status(server.client.get(server.url("/api/v1/livez"))).await,
        200
    );
}

#[tokio::test]
async fn data_is_readable_only_by_its_owner() {
    let server = Program::start().await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let data = server.data();
    assert_eq!(mode(&data), 0o700);
    for name in [
        "leadline.db",
        "leadline.db-wal",
        "leadline.db-shm",
        "lock",
        "token",
    ] {
        assert_eq!(mode(&data.join(name)), 0o600, "{name}");
    }
    // Files created by earlier versions.
    let directory = server.kill().await;
    let database = directory.path().join("data/leadline.db");
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o644)).unwrap();
    let _server = Program::start_in(directory, &[]).await;
    assert_eq!(mode(&database), 0o600);
}

#[tokio::test]
async fn guessable_tokens_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    for option in ["--token", "--read-token", "--metrics-token"] {
        let output = command(directory.path())
            .args([option, "secret"])
            .output()
            .await
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.contains(&format!("{option} has only 6 characters")),
            "{error}"
        );
    }
}

/// Returns the environments of the children of a process.
fn child_environments(parent: u32) -> Vec<String> {
    let children = format!("/proc/{parent}/task");
    let tasks = std::fs::read_dir(children).unwrap();
    let children = tasks.flat_map(|task| {
        let list = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap();
        list.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let environment = |child| std::fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
    children
        .map(|child| String::from_utf8_lossy(&environment(child)).into_owned())
        .collect()
}

#[tokio::test]
async fn runner_does_not_inherit_the_tokens() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let mut command = command(directory.path());
    command
        .env("LEADLINE_READ_TOKEN", READ)
        .env("LEADLINE_METRICS_TOKEN", METRICS);
    let server = Program::start_command(command, directory).await;
    let run = server.queue(job("a", "60s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let environments = child_environments(server.pid());
    assert_eq!(environments.len(), 1);
    assert!(
        environments[0].contains("LEADLINE_DATA_DIR="),
        "{environments:?}"
    );
    assert!(!environments[0].contains("_TOKEN="), "{environments:?}");
}
