//! Webhooks: signatures, retries, rejected addresses, and messages about trends and schedules.

use crate::{
    deletion::execute,
    program::{Program, TIMEOUT, job},
    schedules::quiet_now,
    trends::{day, path, pin, server_with},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sha2::Sha256;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};

const KEY: [u8; 32] = [7; 32];

pub(crate) fn secret() -> String {
    format!("whsec_{}", STANDARD.encode(KEY))
}

/// An HTTP server that sends the specified status lines and headers in order, and then responds
/// with 204.
struct Receiver {
    address: String,
    requests: mpsc::UnboundedReceiver<String>,
}

impl Receiver {
    async fn start(heads: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, requests) = mpsc::unbounded_channel();
        let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
        let served = Arc::new(AtomicUsize::new(0));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let index = served.fetch_add(1, Ordering::Relaxed);
                let head = heads.get(index).map_or("204 No Content", String::as_str);
                let request = respond(stream, head).await;
                let _ = sender.send(request);
            }
        });
        Self { address, requests }
    }

    async fn next(&mut self) -> Received {
        let request = timeout(TIMEOUT, self.requests.recv()).await;
        Received(request.expect("a message arrives").unwrap())
    }

    /// Fails if a message arrives within 1.5 seconds.
    async fn expect_nothing(&mut self) {
        let request = timeout(Duration::from_millis(1500), self.requests.recv()).await;
        assert!(request.is_err(), "{request:?}");
    }
}

async fn respond(mut stream: TcpStream, head: &str) -> String {
    let mut request = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let length = stream.read(&mut chunk).await.unwrap();
        request.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((headers, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let expected: usize = header(headers, "content-length").parse().unwrap();
        if body.len() >= expected {
            let response = format!("HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n");
            let _ = stream.write_all(response.as_bytes()).await;
            return text;
        }
    }
}

fn header(headers: &str, name: &str) -> String {
    let mut values = headers.lines().filter_map(|line| {
        let (found, value) = line.split_once(": ")?;
        found.eq_ignore_ascii_case(name).then(|| value.to_owned())
    });
    values.next().unwrap_or_default()
}

struct Received(String);

impl Received {
    fn header(&self, name: &str) -> String {
        header(self.0.split_once("\r\n\r\n").unwrap().0, name)
    }

    fn body(&self) -> Value {
        serde_json::from_str(self.0.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Verifies the signature the way a receiver would.
    fn check(&self) {
        let (_, body) = self.0.split_once("\r\n\r\n").unwrap();
        let signed = format!(
            "{}.{}.{body}",
            self.header("webhook-id"),
            self.header("webhook-timestamp")
        );
        let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).unwrap();
        mac.update(signed.as_bytes());
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        assert_eq!(self.header("webhook-signature"), expected);
    }
}

async fn create(server: &Program, url: &str) -> u64 {
    let body = json!({"name": "Chat", "url": url, "secret": secret()});
    let (status, created) = server.post("/webhooks", &body).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    created["number"].as_u64().unwrap()
}

async fn test_message(server: &Program, number: u64) {
    let path = format!("/webhooks/{number}/test");
    let (status, webhook) = server.post(&path, &json!(null)).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{webhook}");
}

/// Waits until the latest message has been attempted this many times, and returns it.
async fn wait_for_attempts(server: &Program, number: u64, attempts: u64) -> Value {
    let began = Instant::now();
    loop {
        let webhook = server.get(&format!("/webhooks/{number}")).await;
        let delivery = &webhook["deliveries"][0];
        if delivery["attempts"].as_u64() >= Some(attempts) {
            return delivery.clone();
        }
        assert!(began.elapsed() < TIMEOUT, "{webhook}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn messages_are_signed_and_secrets_are_not_returned() {
    let mut receiver = Receiver::start(&[]).await;
    let server = Program::start().await;
    let url = format!("http://{}/hidden-path?key=hidden-key", receiver.address);
    let number = create(&server, &url).await;
    test_message(&server, number).await;
    let message = receiver.next().await;
    message.check();
    assert!(
        message
            .0
            .starts_with("POST /hidden-path?key=hidden-key HTTP/1.1\r\n")
    );
    assert_eq!(message.header("content-type"), "application/json");
    assert_eq!(message.header("authorization"), "");
    assert_eq!(message.body()["type"], "test");
    let delivery = wait_for_attempts(&server, number, 1).await;
    assert_eq!(delivery["status"], "delivered");
    assert_eq!(delivery["id"], message.header("webhook-id"));
    assert_eq!(delivery["last_result"], "HTTP 204 No Content");

    let list = server.get("/webhooks").await;
    assert_eq!(
        list["webhooks"][0]["origin"],
        format!("http://{}", receiver.address)
    );
    let text = list.to_string();
    assert!(
        !text.contains("hidden") && !text.contains("whsec"),
        "{text}"
    );
    // An update keeps the URL and the key.
    let put = server.request(Method::PUT, "/webhooks/1");
    let (status, changed) = server
        .send(put.json(&json!({"name": "Chat 2", "events": ["schedule_run_failed"]})))
        .await;
    assert_eq!(status, StatusCode::OK, "{changed}");
    assert_eq!(changed["events"], json!(["schedule_run_failed"]));
    let server = server.kill_and_restart().await;
    test_message(&server, number).await;
    receiver.next().await.check();
    let delete = server.request(Method::DELETE, "/webhooks/1");
    assert_eq!(server.send(delete).await.0, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn read_only_tokens_cannot_change_or_test_webhooks() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let token = "0123456789abcdef0123456789abcdef";
    let server = Program::start_in(directory, &["--read-token", token]).await;
    let number = create(&server, "http://127.0.0.1:9/hidden").await;
    let body = json!({"name": "Chat", "url": "http://127.0.0.1:9/", "secret": secret()});
    for (method, path, expected) in [
        (Method::GET, "/webhooks".to_owned(), 200),
        (Method::POST, "/webhooks".to_owned(), 403),
        (Method::PUT, format!("/webhooks/{number}"), 403),
        (Method::DELETE, format!("/webhooks/{number}"), 403),
        (Method::POST, format!("/webhooks/{number}/test"), 403),
        (Method::POST, "/schedules".to_owned(), 403),
    ] {
        let url = server.url(&format!("/api/v1{path}"));
        let request = server
            .client
            .request(method.clone(), url)
            .bearer_auth(token);
        let (status, response) = server.send(request.json(&body)).await;
        assert_eq!(status, expected, "{method} {path}: {response}");
        assert!(!response.to_string().contains("hidden"));
    }
}

#[tokio::test]
async fn failed_messages_are_retried_with_the_same_id() {
    let mut receiver = Receiver::start(&["500 Internal Server Error"]).await;
    let server = Program::start().await;
    let number = create(&server, &format!("http://{}/", receiver.address)).await;
    test_message(&server, number).await;
    let first = receiver.next().await;
    let delivery = wait_for_attempts(&server, number, 1).await;
    assert_eq!(delivery["status"], "pending");
    assert_eq!(delivery["last_result"], "HTTP 500 Internal Server Error");
    let delay = delivery["next_attempt_ms"].as_u64().unwrap();
    assert!(delay > delivery["created_at_ms"].as_u64().unwrap() + 9_000);
    let server = server.kill_and_restart().await;
    execute(&server, "UPDATE webhook_deliveries SET next_attempt_ms = 0").await;
    let second = receiver.next().await;
    second.check();
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(second.body(), first.body());
    assert_eq!(
        wait_for_attempts(&server, number, 2).await["status"],
        "delivered"
    );

    // The tenth attempt is the last one.
    execute(
        &server,
        "UPDATE webhooks SET url = 'http://127.0.0.1:1/'; UPDATE webhook_deliveries SET status = 'pending', attempts = 9, next_attempt_ms = 0",
    )
    .await;
    let failed = wait_for_attempts(&server, number, 10).await;
    assert_eq!(
        (&failed["status"], &failed["next_attempt_ms"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(
        failed["last_result"]
            .as_str()
            .unwrap()
            .contains("cannot connect"),
        "{failed}"
    );
}

#[tokio::test]
async fn receivers_can_delay_and_end_attempts() {
    let heads = ["429 Too Many Requests\r\nRetry-After: 3600", "410 Gone"];
    let receiver = Receiver::start(&heads).await;
    let server = Program::start().await;
    let number = create(&server, &format!("http://{}/", receiver.address)).await;
    test_message(&server, number).await;
    let delivery = wait_for_attempts(&server, number, 1).await;
    assert_eq!(delivery["status"], "pending");
    let time = |field: &str| delivery[field].as_u64().unwrap();
    let delay_ms = time("next_attempt_ms") - time("created_at_ms");
    assert!((3_600_000..3_660_000).contains(&delay_ms), "{delivery}");
    execute(&server, "UPDATE webhook_deliveries SET next_attempt_ms = 0").await;
    let delivery = wait_for_attempts(&server, number, 2).await;
    assert_eq!(delivery["status"], "failed");
    let result = "HTTP 410 Gone: the receiver does not accept more attempts";
    assert_eq!(delivery["last_result"], result);
}

#[tokio::test]
async fn disabled_webhooks_send_no_pending_messages() {
    let mut receiver = Receiver::start(&["500 Internal Server Error"]).await;
    let server = Program::start().await;
    let number = create(&server, &format!("http://{}/", receiver.address)).await;
    test_message(&server, number).await;
    receiver.next().await;
    assert_eq!(
        wait_for_attempts(&server, number, 1).await["status"],
        "pending"
    );
    let put = |enabled: bool| {
        let put = server.request(Method::PUT, "/webhooks/1");
        server.send(put.json(&json!({"name": "Chat", "enabled": enabled})))
    };
    let (_, disabled) = put(false).await;
    let delivery = &disabled["deliveries"][0];
    assert_eq!(delivery["status"], "failed", "{delivery}");
    assert_eq!(delivery["last_result"], "the webhook was disabled");
    execute(&server, "UPDATE webhook_deliveries SET next_attempt_ms = 0").await;
    put(true).await;
    receiver.expect_nothing().await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let mut other = Receiver::start(&[]).await;
    let redirect = format!("302 Found\r\nLocation: http://{}/", other.address);
    let receiver = Receiver::start(&[&redirect]).await;
    let server = Program::start().await;
    let number = create(&server, &format!("http://{}/", receiver.address)).await;
    test_message(&server, number).await;
    let delivery = wait_for_attempts(&server, number, 1).await;
    let result = delivery["last_result"].as_str().unwrap();
    assert_eq!(result, "HTTP 302 Found: redirects are not followed");
    other.expect_nothing().await;
}

#[tokio::test]
async fn unusual_urls_and_addresses_are_rejected() {
    let server = Program::start().await;
    for (url, secret) in [
        ("https://example.com/", secret()),
        ("file:///etc/passwd", secret()),
        ("http://user:password@127.0.0.1/", secret()),
        ("http://127.0.0.1/", "short".into()),
        ("http://127.0.0.1:0/", secret()),
        ("http://127.0.0.1:99999/", secret()),
        ("http://169.254.169.254/latest/meta-data", secret()),
        ("http://0.0.0.0:1/", secret()),
    ] {
        let body = json!({"name": "a", "url": url, "secret": secret});
        let (status, problem) = server.post("/webhooks", &body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{url}: {problem}");
        assert!(!problem.to_string().contains("password@"), "{problem}");
    }
    // As if a receiver's name resolved to this address.
    let number = create(&server, "http://127.0.0.1:1/").await;
    for update in [
        "UPDATE webhooks SET url = 'http://169.254.169.254/latest/meta-data'",
        "UPDATE webhooks SET url = 'http://0.0.0.0:1/'",
    ] {
        execute(&server, update).await;
        test_message(&server, number).await;
        let delivery = wait_for_attempts(&server, number, 1).await;
        let result = delivery["last_result"].as_str().unwrap();
        let expected = "the host has a link-local, multicast or unspecified address";
        assert_eq!(result, expected, "{update}");
    }
}

#[tokio::test]
async fn trend_changes_are_sent_once() {
    let mut copies = day(10, 1, 1000.0);
    copies.extend(day(20, 2, 800.0));
    copies.extend(day(30, 3, 1000.0));
    let server = server_with(&copies).await;
    let mut receiver = Receiver::start(&[]).await;
    create(&server, &format!("http://{}/", receiver.address)).await;
    server.send(server.request(Method::DELETE, "/runs/1")).await;
    let path = path(&server).await;
    let runs = Vec::from_iter(10..20);
    let (_, pinned) = pin(
        &server,
        &path,
        json!({"runs": runs, "threshold_percent": 5}),
    )
    .await;
    assert_eq!(pinned["state"]["state"], "ok", "{pinned}");
    receiver.expect_nothing().await;
    for run in 30..40 {
        server
            .send(server.request(Method::DELETE, &format!("/runs/{run}")))
            .await;
    }
    let body = loop {
        // The group may be too small while runs are still being deleted.
        let body = receiver.next().await.body();
        if body["data"]["after"] == "regressed" {
            break body;
        }
    };
    assert_eq!(body["type"], "trend_state_changed");
    assert_eq!(
        format!("{}?", body["data"]["path"].as_str().unwrap()),
        format!("{path}?")
    );
    let text = body["text"].as_str().unwrap();
    assert!(text.contains("regressed (was "), "{text}");
    assert!(text.contains("20 % lower read IOPS"), "{text}");
    // Until the delivery is stored, a restarted server sends the message again.
    assert_eq!(
        wait_for_attempts(&server, 1, 1).await["status"],
        "delivered"
    );
    let server = server.kill_and_restart().await;
    assert_eq!(server.get(&path).await["state"]["state"], "regressed");
    receiver.expect_nothing().await;
}

#[tokio::test]
async fn failed_and_skipped_starts_are_reported() {
    let server = Program::start().await;
    let mut receiver = Receiver::start(&[]).await;
    create(&server, &format!("http://{}/", receiver.address)).await;
    let rewind = "UPDATE schedules SET handled_until_ms = handled_until_ms / 60000 * 60000 - 1";
    let mut schedule = json!({"name": "Nightly", "cron": "* * * * *", "document": {"jobs": [job("fail", "20ms")], "sample_ms": 20}});
    server.post("/schedules", &schedule).await;
    execute(&server, rewind).await;
    let body = receiver.next().await.body();
    assert_eq!(body["type"], "schedule_run_failed", "{body}");
    assert_eq!(body["data"]["path"], "/runs/1");
    assert_eq!(
        body["text"],
        "Schedule Nightly: run #1 failed. The disk is full."
    );
    let (quiet, reason) = quiet_now();
    schedule["quiet_hours"] = quiet;
    let put = server.request(Method::PUT, "/schedules/1").json(&schedule);
    assert_eq!(server.send(put).await.0, StatusCode::OK);
    execute(&server, "DELETE FROM schedule_starts").await;
    execute(&server, rewind).await;
    let body = receiver.next().await.body();
    assert_eq!(body["type"], "schedule_start_missed", "{body}");
    assert_eq!(body["data"]["result"], "skipped");
    let text = body["text"].as_str().unwrap();
    assert!(text.contains(&reason), "{text}");
    // Consecutive skips after the first one are listed but not sent.
    execute(
        &server,
        "UPDATE schedule_starts SET due_at_ms = due_at_ms - 3600000",
    )
    .await;
    execute(&server, rewind).await;
    let began = Instant::now();
    while server.get("/schedules/1").await["starts"][1]["result"] != "skipped" {
        assert!(began.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    receiver.expect_nothing().await;
}
