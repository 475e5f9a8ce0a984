//! Malicious requests: disguised hosts, forwarded headers, request smuggling, hostile JSON, broken
//! frames and log injection. docs/lab/faults.md lists all faults.

use crate::{
    access::endpoints,
    program::{Program, command, job},
    streams::memory,
};
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

/// Sends bytes and returns everything that the server sends until it closes the connection or sends
/// nothing for a second.
async fn raw(server: &Program, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut response = Vec::new();
    let mut buffer = [0; 4096];
    let silence = Duration::from_secs(1);
    while let Ok(Ok(length @ 1..)) = tokio::time::timeout(silence, stream.read(&mut buffer)).await {
        response.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8_lossy(&response).into_owned()
}

#[tokio::test]
async fn disguised_hosts_are_rejected() {
    let server = Program::start().await;
    let port = server.address.rsplit(':').next().unwrap();
    let get = |hosts: &str| {
        format!(
            "GET /api/v1/runs HTTP/1.1\r\n{hosts}authorization: Bearer {}\r\nconnection: close\r\n\r\n",
            server.token
        )
    };
    for host in [
        format!(":{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("localhost.:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("evil.test@127.0.0.1:{port}"),
    ] {
        let response = raw(&server, get(&format!("host: {host}\r\n")).as_bytes()).await;
        assert!(
            response.starts_with("HTTP/1.1 403") || response.starts_with("HTTP/1.1 400"),
            "{host}: {response}"
        );
    }
    let own = format!("host: {}\r\n", server.address);
    for two in [
        format!("{own}host: evil.test\r\n"),
        format!("host: evil.test\r\n{own}"),
    ] {
        let response = raw(&server, get(&two).as_bytes()).await;
        assert!(!response.starts_with("HTTP/1.1 2"), "{two}: {response}");
    }
    let response = raw(&server, get(&own).as_bytes()).await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
}

#[tokio::test]
async fn forwarded_headers_are_ignored() {
    let server = Program::start().await;
    let names = [
        "x-forwarded-host",
        "x-forwarded-for",
        "forwarded",
        "x-real-ip",
    ];
    let send = async |host: &str, forwarded: &str| {
        let mut request = server.request(Method::GET, "/runs");
        request = request.header(header::HOST, host);
        for name in names {
            request = request.header(name, forwarded);
        }
        server.send(request).await.0
    };
    assert_eq!(send("evil.test", "127.0.0.1").await, StatusCode::FORBIDDEN);
    assert_eq!(send(&server.address, "evil.test").await, StatusCode::OK);
}

#[tokio::test]
async fn reads_and_method_overrides_change_nothing() {
    let server = Program::start().await;
    let number = server.queue(job("a", "10ms")).await;
    let before = server.wait_until_ended(number).await;
    for (method, path) in endpoints() {
        if method != Method::GET || path.ends_with("/events") || path.ends_with("/stream") {
            continue;
        }
        for (name, value) in [
            ("x-http-method-override", "DELETE"),
            ("x-method-override", "POST"),
        ] {
            let request = server.client.get(server.url(&path));
            server
                .send(request.bearer_auth(&server.token).header(name, value))
                .await;
        }
        let query = server
            .client
            .get(server.url(&format!("{path}?_method=DELETE")));
        server.send(query.bearer_auth(&server.token)).await;
    }
    assert_eq!(server.get(&format!("/runs/{number}")).await, before);
    assert_eq!(server.starts(), ["a"]);
}

#[tokio::test]
async fn a_request_with_two_lengths_is_not_split() {
    let server = Program::start().await;
    let smuggled = format!(
        "DELETE /api/v1/runs/1 HTTP/1.1\r\nhost: {0}\r\nauthorization: Bearer {1}\r\n\r\n",
        server.address, server.token
    );
    server.queue(job("a", "10ms")).await;
    server.wait_until_ended(1).await;
    for lengths in [
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
        "content-length: 5\r\ncontent-length: 6\r\n",
        "transfer-encoding: chunked, identity\r\ncontent-length: 5\r\n",
    ] {
        // A frontend that relies on the content length would treat all of this as the body.
        let request = format!(
            "POST /api/v1/plan HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{lengths}\r\n0\r\n\r\n{smuggled}",
            server.address, server.token
        );
        let response = raw(&server, request.as_bytes()).await;
        let (status, run) = server.send(server.request(Method::GET, "/runs/1")).await;
        assert_eq!(status, StatusCode::OK, "{lengths}: {run}\n{response}");
    }
}

/// Each connection sends only part of the request headers.
#[tokio::test]
async fn a_thousand_partial_requests_do_not_delay_others() {
    let server = Program::start_with_file_limits(4096, 4096).await;
    let mut half = Vec::new();
    for _ in 0..1000 {
        let mut stream = TcpStream::connect(&server.address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: ").await.unwrap();
        half.push(stream);
    }
    let mut times = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        assert_eq!(server.get("/livez").await["status"], "ok");
        times.push(began.elapsed());
    }
    times.sort();
    eprintln!("p99 {:?}", times[98]);
    // Takes 50 ms on an idle machine; the limit allows for a busy one.
    assert!(times[98] < Duration::from_millis(500), "{times:?}");
}

#[tokio::test]
async fn hostile_json_is_rejected_using_little_memory() {
    let server = Program::start().await;
    let post = |body: String| server.send(server.request(Method::POST, "/plan").body(body));
    post("{}".into()).await;
    let before = memory(server.pid());
    let job = |field: &str| format!(r#"{{"jobs": [{{"filename": "/fake/vda/t", {field}}}]}}"#);
    let keys: Vec<String> = (0..60_000).map(|key| format!("\"k{key}\":1")).collect();
    for (name, body) in [
        ("depth", "[".repeat(10_000)),
        ("objects", "{\"a\":".repeat(10_000)),
        ("keys", format!("{{{}}}", keys.join(","))),
        ("options", format!(r#"{{"jobs":[{{{}}}]}}"#, keys.join(","))),
        ("infinite", job(r#""iodepth": 1e999"#)),
        ("large", job(r#""iodepth": 1e308"#)),
        ("beyond u64", job(r#""iodepth": 18446744073709551616"#)),
        ("negative", job(r#""size": -1"#)),
        ("not a number", job(r#""iodepth": NaN"#)),
        ("100 years", job(r#""runtime": "100y""#)),
        ("rwmixread", job(r#""rw": "rw", "rwmixread": 101"#)),
    ] {
        let (status, problem) = post(body).await;
        // The plan lists the problems of a job. Requests that cannot be parsed are rejected.
        let is_rejected = status == StatusCode::UNPROCESSABLE_ENTITY
            || problem["problems"]
                .as_array()
                .is_some_and(|list| !list.is_empty());
        assert!(is_rejected, "{name}: {status} {problem}");
    }
    let bomb = server
        .request(Method::POST, "/plan")
        .header(header::CONTENT_ENCODING, "gzip")
        .body(vec![0x1f, 0x8b, 8, 0]);
    assert!(server.send(bomb).await.0.is_client_error());
    let head = format!(
        "POST /api/v1/plan HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-length: 1073741824\r\n\r\n",
        server.address, server.token
    );
    // The server stops reading the body at its size limit.
    let response = raw(
        &server,
        &[head.as_bytes(), &vec![b' '; (1 << 20) + 1]].concat(),
    )
    .await;
    assert!(response.starts_with("HTTP/1.1 413"), "{response}");
    let grown = memory(server.pid()).saturating_sub(before);
    // Limits the memory that the allocator retains after bodies with 60,000 keys.
    assert!(grown <= 32 << 20, "{grown} bytes");
    assert_eq!(server.get("/runs").await["total"], 0);
}

#[tokio::test]
async fn studies_cannot_fill_the_queue() {
    let server = Program::start().await;
    let first = server.queue(job("running", "1h")).await;
    server.wait_for_status(first, &["measuring"]).await;
    let study = |steps: usize| json!({"name": "many", "steps": vec![json!({"jobs": [job("step", "10ms")]}); steps]});
    for _ in 0..4 {
        let (status, response) = server.post("/studies", &study(1000)).await;
        assert_eq!(status, StatusCode::CREATED, "{response}");
    }
    let (status, problem) = server.post("/studies", &study(1)).await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::TOO_MANY_REQUESTS, Some("queue_full"))
    );
    let run = server.queue(job("one more", "10ms")).await;
    assert_eq!(
        server.get(&format!("/runs/{run}")).await["status"],
        "queued"
    );
    assert_eq!(server.get("/livez").await["status"], "ok");
}

/// Opens a WebSocket, sends bytes, and returns what the server sends until it closes the
/// connection.
async fn send_frames(server: &Program, frames: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    let request = format!(
        "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 101");
    // The server may close the connection before it has received all frames.
    let _ = stream.write_all(frames).await;
    let mut response = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut response));
    // The server may also reset the connection.
    let _ = closed.await.expect("the server closes the connection");
    response
}

/// A close frame with an all-zero mask.
const CLOSE: [u8; 6] = [0x88, 0x80, 0, 0, 0, 0];

#[tokio::test]
async fn broken_frames_close_the_stream() {
    let server = Program::start().await;
    // The first stream loads program pages into memory. Open it before measuring memory growth.
    send_frames(&server, &CLOSE).await;
    let before = memory(server.pid());
    // Opcode, length, all-zero mask, payload (RFC 6455, 5.2).
    let unmasked = [0x81, 1, b'x'];
    let bad_utf8 = [0x81, 0x82, 0, 0, 0, 0, 0xff, 0xff];
    let huge = [0x82, 0xff, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
    let mut long_ping = vec![0x89, 0xfe, 4, 0, 0, 0, 0, 0];
    long_ping.extend([0; 1024]);
    let unknown = [0x83, 0x80, 0, 0, 0, 0];
    for frame in [&unmasked[..], &bad_utf8, &huge, &long_ping, &unknown] {
        send_frames(&server, frame).await;
    }
    let grown = memory(server.pid()).saturating_sub(before);
    assert!(grown <= 16 << 20, "{grown} bytes");
    assert_eq!(server.get("/livez").await["status"], "ok");
}

/// An endless stream of pings from a client that does not read.
#[tokio::test]
async fn ping_floods_use_little_memory() {
    let server = Program::start().await;
    send_frames(&server, &CLOSE).await;
    let before = memory(server.pid());
    let ping = [0x89, 0x80, 0, 0, 0, 0];
    let mut frames = ping.repeat(1_000_000);
    frames.extend(CLOSE);
    send_frames(&server, &frames).await;
    let grown = memory(server.pid()).saturating_sub(before);
    assert!(grown <= 16 << 20, "{grown} bytes");
}

#[tokio::test]
async fn logs_contain_neither_control_characters_nor_the_token() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let log = directory.path().join("log");
    let plain = command(directory.path());
    let mut logged = Command::new("sh");
    logged
        .args(["-c", "log=$1; shift; exec \"$@\" 2> \"$log\"", "sh"])
        .arg(&log)
        .arg(plain.as_std().get_program())
        .args(plain.as_std().get_args());
    let set = plain.as_std().get_envs();
    logged
        .envs(set.filter_map(|(name, value)| Some((name, value?))))
        .env("RUST_LOG", "info,leadline_server=debug,tower_http=debug")
        .env_remove("LEADLINE_TOKEN")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true);
    let server = Program::start_command(logged, directory.clone()).await;
    let hostile = format!("crash \u{1b}[31m\r\nERROR forged {}", server.token);
    let body = json!({"name": hostile, "jobs": [job(&hostile, "100ms")]});
    let (_, response) = server.post("/runs", &body).await;
    if let Some(number) = response["number"].as_u64() {
        server.wait_until_ended(number).await;
    }
    for path in ["/login?token=", "/api/v1/nothing/%0d%0aERROR%20forged%1b/"] {
        let url = server.url(&format!("{path}{}", server.token));
        server.client.get(url).send().await.unwrap();
    }
    let wrong: Value = json!({"token": format!("{}\r\n", server.token)});
    let login = server.client.post(server.url("/login")).json(&wrong);
    login.send().await.unwrap();
    let token = server.token.clone();
    server.kill().await;
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains(&token), "the token is in the log:\n{text}");
    let is_control = |letter: char| letter.is_control() && letter != '\n';
    assert!(!text.contains(is_control), "{text:?}");
    let is_forged = |line: &str| line.starts_with("ERROR forged");
    assert!(!text.lines().any(is_forged), "{text}");
}
