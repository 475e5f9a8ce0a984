//! Repeated study steps, and comparisons of their groups.

use crate::program::{Program, TIMEOUT, job};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Instant};

const REPEATS: usize = 6;

/// A study with two repeated steps.
fn study() -> Value {
    let step = |name: &str| json!({"name": name, "sample_ms": 20, "jobs": [job(name, "50ms")]});
    json!({"name": "A/B", "repeats": REPEATS, "order_seed": 7, "steps": [step("before"), step("after")]})
}

/// Waits until a study has ended.
pub(crate) async fn wait_for_end_of_study(server: &Program, number: u64) -> Value {
    let began = Instant::now();
    loop {
        let study = server.get(&format!("/studies/{number}")).await;
        if !["queued", "running"].contains(&study["status"].as_str().unwrap()) {
            return study;
        }
        assert!(began.elapsed() < TIMEOUT, "{study}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn run_study(server: &Program, study: &Value) -> Value {
    let (status, created) = server.post("/studies", study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    let path = format!("/studies/{}", created["number"]);
    let began = Instant::now();
    loop {
        let study = server.get(&path).await;
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
    let study = run_study(&server, &study()).await;
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
    assert_eq!(groups[1]["complete"], REPEATS, "{comparison}");
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

/// The baseline is not simply the first run, which may belong to another step.
#[tokio::test]
async fn changes_are_relative_to_the_median_of_step_1() {
    let server = Program::start().await;
    let study = run_study(&server, &study()).await;
    let median = study["results"][0]["iops"]["median"].as_f64().unwrap();
    assert_eq!(study["results"][0]["step"], 1);
    let steps = study["steps"].as_array().unwrap();
    for step in steps {
        let iops = step["run"]["iops"].as_f64().unwrap();
        let change = step["iops_change_percent"].as_f64().unwrap();
        assert!(
            (change - (iops / median - 1.0) * 100.0).abs() < 1e-9,
            "{step}"
        );
    }
}

#[tokio::test]
async fn sequential_repeats_are_not_paired() {
    let server = Program::start().await;
    let mut sequential = study();
    sequential["order"] = "sequential".into();
    let study = run_study(&server, &sequential).await;
    assert_eq!(study["order"], "sequential");
    let comparison = server
        .get("/compare?a=study:1/step:1&b=study:1/step:2")
        .await;
    let metrics = comparison["metrics"].as_array().unwrap();
    let change = &metrics[0]["changes"][1];
    assert_eq!(change["paired"], false, "{change}");
    let reasons = comparison["comparability"]["reasons"].to_string();
    assert!(reasons.contains("not interleaved"), "{reasons}");
}

/// The same study before and after a change.
#[tokio::test]
async fn equal_labels_are_distinguished() {
    let server = Program::start().await;
    for number in 1..=2 {
        let mut study = study();
        study["name"] = "db: random: read (1)".into();
        study["repeats"] = 2.into();
        let study = run_study(&server, &study).await;
        assert_eq!(study["number"], number);
    }
    let labels = |query: &str| {
        let path = format!("/compare?{query}");
        let server = &server;
        async move {
            let comparison = server.get(&path).await;
            let groups = comparison["groups"].as_array().unwrap().iter();
            let labels = groups.map(|group| group["label"].as_str().unwrap().to_owned());
            labels.collect::<Vec<String>>()
        }
    };
    assert_eq!(
        labels("a=study:1/step:1&b=study:2/step:1").await,
        ["before (step 1 of study 1)", "before (step 1 of study 2)"]
    );
    assert_eq!(
        labels("a=study:1/step:1&b=study:1/step:2").await,
        ["before", "after"]
    );
    assert_eq!(labels("a=1&b=2").await, ["#1", "#2"]);
}

#[tokio::test]
async fn overlapping_groups_are_rejected() {
    let server = Program::start().await;
    run_study(&server, &study()).await;
    let comparison = server.get("/compare?a=1,2,3&b=3,4,5").await;
    assert_eq!(comparison["comparability"]["level"], "not_comparable");
    assert_eq!(
        comparison["answers"][0],
        "Not comparable: #3 is in both “#1, #2, #3” and “#3, #4, #5”."
    );
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
    let too_long = "x".repeat(9000);
    for query in ["a=12,&b=3".to_owned(), format!("a=tag:{too_long}&b=3")] {
        let request = server.request(Method::GET, &format!("/compare?{query}"));
        let (status, problem) = server.send(request).await;
        assert_eq!(status, 422);
        assert_eq!(problem["errors"][0]["field"], "a", "{problem}");
    }
}
