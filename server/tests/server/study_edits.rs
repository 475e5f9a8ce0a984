//! Renames and deletes studies.

use crate::program::{Program, TIMEOUT, job};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn create(server: &Program, runtime: &str) {
    let step = |name| json!({"name": name, "jobs": [job(name, runtime)]});
    let study = json!({"name": "Study", "steps": [step("a"), step("b")]});
    let (status, created) = server.post("/studies", &study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
}

async fn wait_until_ended(server: &Program, study: u64) {
    let began = Instant::now();
    loop {
        let study = server.get(&format!("/studies/{study}")).await;
        if !study["finished_at_ms"].is_null() {
            return;
        }
        assert!(began.elapsed() < TIMEOUT, "{study}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn rename(server: &Program, study: u64, name: &str) -> (StatusCode, Value) {
    let request = server.request(Method::PATCH, &format!("/studies/{study}"));
    server.send(request.json(&json!({"name": name}))).await
}

async fn delete(server: &Program, study: u64) -> (StatusCode, Value) {
    let request = server.request(Method::DELETE, &format!("/studies/{study}"));
    server.send(request).await
}

#[tokio::test]
async fn renaming_a_study_renames_its_runs() {
    let server = Program::start().await;
    create(&server, "10ms").await;
    wait_until_ended(&server, 1).await;
    let own = server.request(Method::PATCH, "/runs/2");
    let (status, _) = server.send(own.json(&json!({"name": "Study b"}))).await;
    assert_eq!(status, StatusCode::OK);
    let (status, study) = rename(&server, 1, " Nightly ").await;
    assert_eq!(
        (status, &study["name"]),
        (StatusCode::OK, &json!("Nightly"))
    );
    assert_eq!(
        server.get("/studies").await["studies"][0]["name"],
        "Nightly"
    );
    assert_eq!(server.get("/runs/1").await["name"], "Nightly: a");
    // A name that a user has given to a run is not changed.
    assert_eq!(server.get("/runs/2").await["name"], "Study b");
    // Search finds the new name.
    assert_eq!(server.get("/runs?q=nightly").await["total"], 1);
    for name in ["", "  ", "a\nb"] {
        let (status, problem) = rename(&server, 1, name).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    }
    assert_eq!(rename(&server, 9, "x").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn deleting_a_study_deletes_its_runs_only_after_they_have_ended() {
    let server = Program::start().await;
    let other = server.queue(job("other", "10ms")).await;
    server.wait_until_ended(other).await;
    create(&server, "30s").await;
    let (status, problem) = delete(&server, 1).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(problem["code"], "not_ended");
    let (status, _) = server.post("/studies/1/cancel", &json!(null)).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    wait_until_ended(&server, 1).await;
    assert_eq!(delete(&server, 1).await.0, StatusCode::NO_CONTENT);
    assert_eq!(delete(&server, 1).await.0, StatusCode::NOT_FOUND);
    assert_eq!(server.get("/studies").await["total"], 0);
    let runs = server.get("/runs").await;
    assert_eq!(runs["total"], 1);
    assert_eq!(runs["runs"][0]["number"], other);
}
