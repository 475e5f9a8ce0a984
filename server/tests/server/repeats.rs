//! Repeated study steps, and comparisons of their groups.

use crate::program::{Program, TIMEOUT, job};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Instant};

const REPEATS: usize = 6;

/// A study with two repeated steps.
fn study() -> Value {
    let step = |name: &str| json!({"name": name, "sample_ms": 20, "jobs": [job(name, "20ms")]});
    json!({"name": "A/B", "repeats": REPEATS, "order_seed": 7, "steps": [step("before"), step("after")]})
}

async fn run_study(server: &Program) -> Value {
    let (status, created) = server.post("/studies", &study()).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    let began = Instant::now();
    loop {
        let study = server.get("/studies/1").await;
        if study["status"] == "done" {
            return study;
        }
        assert!(began.elapsed() < TIMEOUT, "{study}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn repeated_steps_are_compared_in_pairs() {
    let server = Program::start().await;
    let study = run_study(&server).await;
    assert_eq!(study["repeats"], REPEATS);
    assert_eq!(study["order_seed"], 7);
    assert_eq!(study["steps_total"], 2 * REPEATS);
    let steps = study["steps"].as_array().unwrap();
    let mut turns = BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        let number = |name: &str| step[name].as_u64().unwrap();
        assert_eq!(number("repeat") as usize, index / 2 + 1, "{step}");
        assert_eq!(step["run"]["step"], step["step"]);
        assert_eq!(step["run"]["repeat"], step["repeat"]);
        turns.insert((number("step"), number("repeat")));
    }
    assert_eq!(turns.len(), 2 * REPEATS);

    let comparison = server
        .get("/compare?a=study:1/step:1&b=study:1/step:2&threshold=5")
        .await;
    let groups = comparison["groups"].as_array().unwrap();
    assert_eq!(groups[0]["label"], "before");
    assert_eq!(groups[1]["label"], "after");
    assert_eq!(groups[1]["complete"], REPEATS);
    assert_eq!(comparison["threshold_percent"], 5.0);
    assert_eq!(comparison["runs"].as_array().unwrap().len(), 2 * REPEATS);
    check_exports(&server).await;
    let metrics = comparison["metrics"].as_array().unwrap().iter();
    let mut metrics = metrics.filter(|metric| metric["name"] == "read_iops");
    let iops = metrics.next().unwrap();
    assert_eq!(iops["groups"][0]["n"], REPEATS);
    assert_eq!(iops["changes"][1]["paired"], true);
    assert!(iops["changes"][1]["interval_percent"].is_object(), "{iops}");
    assert!(!comparison["answers"][0].as_str().unwrap().is_empty());
}

async fn check_exports(server: &Program) {
    for (extension, expected) in [
        ("csv", "read_iops,\"1/s\",\"after\",6,"),
        ("md", "| Read IOPS |"),
        ("html", "<tr><td>Read IOPS"),
    ] {
        let path = format!("/compare/comparison.{extension}?a=study:1/step:1&b=study:1/step:2");
        let response = server.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let disposition = response.headers()["content-disposition"].to_str().unwrap();
        assert!(disposition.starts_with("attachment"), "{disposition}");
        let text = response.text().await.unwrap();
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("<script"), "{text}");
    }
}

#[tokio::test]
async fn a_failed_run_ends_a_repeated_study() {
    let server = Program::start().await;
    let mut study = study();
    study["steps"][1]["jobs"] = json!([job("fail", "20ms")]);
    let (status, created) = server.post("/studies", &study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    for run in 1..=2 * REPEATS as u64 {
        server.wait_until_ended(run).await;
    }
    let ended = server.get("/studies/1").await;
    assert_eq!(ended["status"], "failed");
    let steps = ended["steps"].as_array().unwrap();
    let failed = steps
        .iter()
        .position(|step| step["run"]["status"] == "failed")
        .unwrap();
    assert!(failed < 2, "the first block contains the failing step");
    for step in &steps[failed + 1..] {
        assert_eq!(step["run"]["status"], "cancelled", "{step}");
    }
}

#[tokio::test]
async fn groups_are_lists_or_filters() {
    let server = Program::start().await;
    for tag in ["old", "old", "new"] {
        let body = json!({"jobs": [job("a", "20ms")], "tags": [tag]});
        let (status, run) = server.post("/runs", &body).await;
        assert_eq!(status, StatusCode::CREATED, "{run}");
        server
            .wait_until_ended(run["number"].as_u64().unwrap())
            .await;
    }
    for query in ["a=1,2&b=3", "a=tag:old&b=tag:new"] {
        let comparison = server.get(&format!("/compare?{query}")).await;
        assert_eq!(comparison["groups"][0]["runs"], json!(["#1", "#2"]));
        assert_eq!(comparison["groups"][1]["runs"], json!(["#3"]));
    }
    let (status, problem) = server
        .send(server.request(Method::GET, "/compare?a=tag:none&b=3"))
        .await;
    assert_eq!(status, 422);
    assert_eq!(problem["errors"][0]["field"], "a", "{problem}");
}
