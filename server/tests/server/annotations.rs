//! Timestamped notes on runs.

use crate::{
    program::{Program, TIMEOUT, job},
    streams::open,
};
use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn annotate(server: &Program, run: u64, t_ms: f64, text: &str) -> (StatusCode, Value) {
    let body = json!({"t_ms": t_ms, "text": text});
    server
        .post(&format!("/runs/{run}/annotations"), &body)
        .await
}

async fn delete(server: &Program, path: &str) -> StatusCode {
    server.send(server.request(Method::DELETE, path)).await.0
}

/// Annotation texts in the order in which the API returns them.
fn texts(run: &Value) -> Vec<&str> {
    let annotations = run["annotations"].as_array().unwrap().iter();
    annotations
        .map(|annotation| annotation["text"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn annotations_are_included_in_the_run_and_its_exports() {
    let server = Program::start().await;
    let number = server.queue(job("noted", "300ms")).await;
    server.wait_until_ended(number).await;
    let path = format!("/runs/{number}");
    let mut events = server.events(number).await;
    events.retain(|event| event["type"] == "sample");
    let first_ms = events[0]["t_ms"].as_f64().unwrap();
    let last_ms = events.last().unwrap()["t_ms"].as_f64().unwrap();
    assert!(first_ms < last_ms, "{events:?}");
    let mut socket = open(&server, "/events").await;
    let (status, last) = annotate(&server, number, last_ms, "second, \"quoted\"").await;
    assert_eq!(status, StatusCode::CREATED, "{last}");
    let (_, first) = annotate(&server, number, 0.0, " first ").await;
    let run = server.get(&path).await;
    assert_eq!(texts(&run), ["first", "second, \"quoted\""]);
    assert_eq!(run["annotations"][0], first);
    let changed = async {
        while let Some(frame) = socket.next().await {
            let frame = frame.unwrap();
            // Skip pings, which contain no text.
            let frame: Value = serde_json::from_str(frame.to_text().unwrap()).unwrap_or_default();
            if frame["type"] == "annotations" {
                return frame;
            }
        }
        Value::Null
    };
    let frame = tokio::time::timeout(TIMEOUT, changed).await.unwrap();
    assert_eq!(frame["run"], number);

    let csv = server.get(&format!("{path}/export?format=csv")).await;
    let lines: Vec<&str> = csv.as_str().unwrap().lines().collect();
    assert!(lines[0].ends_with(",annotation"), "{}", lines[0]);
    let noted: Vec<&&str> = lines.iter().filter(|line| line.ends_with('"')).collect();
    assert_eq!(noted.len(), 2, "{lines:?}");
    assert!(noted[0].ends_with(",\"first\""), "{noted:?}");
    assert!(
        noted[1].ends_with(",\"second, \"\"quoted\"\"\""),
        "{noted:?}"
    );
    for (line, expected) in [(noted[0], first_ms), (noted[1], last_ms)] {
        let t_ms: f64 = line.split(',').next().unwrap().parse().unwrap();
        assert_eq!(t_ms, expected);
    }

    let id = first["number"].as_u64().unwrap();
    let annotation = format!("{path}/annotations/{id}");
    assert_eq!(delete(&server, &annotation).await, StatusCode::NO_CONTENT);
    assert_eq!(delete(&server, &annotation).await, StatusCode::NOT_FOUND);
    let run = server.get(&path).await;
    assert_eq!(texts(&run), ["second, \"quoted\""]);
    // The number of a removed annotation is not reused.
    let (_, next) = annotate(&server, number, 1.0, "third").await;
    assert!(next["number"].as_u64().unwrap() > last["number"].as_u64().unwrap());
}

#[tokio::test]
async fn annotations_are_limited_and_deleted_with_their_run() {
    let server = Program::start().await;
    assert_eq!(
        annotate(&server, 1, 0.0, "a").await.0,
        StatusCode::NOT_FOUND
    );
    let number = server.queue(job("noted", "10ms")).await;
    server.wait_until_ended(number).await;
    for index in 0..100 {
        let (status, body) = annotate(&server, number, f64::from(index), "note").await;
        assert_eq!(status, StatusCode::CREATED, "{body}");
    }
    let (status, problem) = annotate(&server, number, 0.0, "one more").await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(problem["code"], "too_many_annotations");
    let other = server.queue(job("other", "10ms")).await;
    server.wait_until_ended(other).await;
    let (_, kept) = annotate(&server, other, 0.0, "kept").await;
    // An annotation number is valid only for its own run.
    let wrong = format!("/runs/{number}/annotations/{}", kept["number"]);
    assert_eq!(delete(&server, &wrong).await, StatusCode::NOT_FOUND);
    let run = format!("/runs/{number}");
    assert_eq!(delete(&server, &run).await, StatusCode::NO_CONTENT);
    assert_eq!(
        texts(&server.get(&format!("/runs/{other}")).await),
        ["kept"]
    );
}
