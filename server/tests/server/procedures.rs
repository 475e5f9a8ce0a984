//! Studies whose runs follow a procedure, executed by the real runner.

use crate::{
    program::{Program, TIMEOUT},
    repeats::wait_for_end_of_study,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// An SNIA test without storage I/O: one cell per round, one second per cell.
fn study() -> Value {
    json!({"name": "PTS",
        "snia": {"test": "iops", "class": "enterprise", "cell_seconds": 1, "mixes": [0], "blocks": ["4k"], "max_rounds": 8},
        "steps": [{"jobs": [{"filename": "none", "ioengine": "null", "size": "1m", "direct": 0}]}]})
}

#[tokio::test]
async fn steady_state_ends_a_test_even_after_a_kill() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let Some(server) = Program::start_real(directory).await else {
        return;
    };
    let (status, plan) = server.post("/studies/plan", &study()).await;
    assert_eq!(status, StatusCode::OK, "{plan}");
    let notes = plan["notes"].to_string();
    assert!(
        notes.contains("5 to 8 rounds") && notes.contains("not purged"),
        "{notes}"
    );
    let (status, created) = server.post("/studies", &study()).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    // Wait until preconditioning and round 1 have ended.
    server.wait_for_status(2, &["measuring"]).await;
    let directory = server.kill().await;
    let server = Program::start_real(directory).await.unwrap();
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "done", "{ended}");
    let results = server.get("/studies/1/procedure").await;
    assert_eq!(results["kind"], "snia");
    let rounds = results["rounds"].as_array().unwrap();
    assert!(rounds[0]["interruption"].is_string(), "{}", rounds[0]);
    assert!(rounds[1]["interruption"].is_null());
    // Memory is always in a steady state, so there is no badge.
    assert!(results["badge"].is_null());
    if results["state"] == "steady" {
        let last = results["window"]["last"].as_u64().unwrap();
        assert!(last >= 6, "{results}");
        // A test that reaches its steady state in its last round does not end early.
        let reason = (last < 8).then(|| format!("steady state in round {last}"));
        assert_eq!(ended["ended"], json!(reason));
        let steps = ended["steps"].as_array().unwrap();
        let skipped = steps
            .iter()
            .filter(|step| step["run"]["status"] == "cancelled");
        assert_eq!(skipped.count() as u64, 8 - last);
    }
    let missing = server.request(Method::GET, "/studies/2/procedure");
    let (status, problem) = server.send(missing).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{problem}");
}

#[tokio::test]
async fn a_load_curve_adds_its_runs_even_after_a_kill() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let Some(server) = Program::start_real(directory).await else {
        return;
    };
    let study = json!({"name": "Curve", "load_curve": {"rates": [1000, 2000, 3000], "seconds": 1, "ramp_seconds": 0},
        "tags": ["curve"],
        "steps": [{"jobs": [{"filename": "none", "ioengine": "null", "size": "1m", "rw": "randread", "direct": 0}]}]});
    let (status, created) = server.post("/studies", &study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    // Run 2 is not created before run 1 has ended.
    while server.get("/studies/1").await["steps"][1]["run"]["status"] != "measuring" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let directory = server.kill().await;
    let server = Program::start_real(directory).await.unwrap();
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "done", "{ended}");
    assert_eq!(ended["ended"], "the curve is complete");
    let results = server.get("/studies/1/procedure").await;
    let points = results["points"].as_array().unwrap();
    // All rates are measured. An overloaded rate is measured again.
    for rate in [1000.0, 2000.0, 3000.0] {
        assert!(
            points.iter().any(|point| point["offered"] == rate),
            "{results}"
        );
    }
    let steps = ended["steps"].as_array().unwrap();
    assert_eq!(steps.len(), points.len());
    assert!(steps.iter().all(|step| step["run"]["status"] == "done"));
    assert_eq!(steps[1]["failed_run"]["status"], "interrupted");
    assert_eq!(steps[2]["run"]["tags"], json!(["curve"]));
}

/// Waits until the run of a step is measuring, and returns its number.
async fn wait_until_measuring(server: &Program, step: usize, retry_of: &Value) -> Value {
    let began = Instant::now();
    loop {
        let run = server.get("/studies/1").await["steps"][step]["run"].clone();
        if run["status"] == "measuring" && run["retry_of"] == *retry_of {
            return run["number"].clone();
        }
        assert!(began.elapsed() < TIMEOUT, "step {step}: {run}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs a load curve study and kills the run of one step twice.
async fn run_curve_with_two_kills(curve: Value, step: usize) -> Option<(Program, Value)> {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let mut server = Program::start_real(directory).await?;
    let study = json!({"name": "Curve", "load_curve": curve,
        "steps": [{"jobs": [{"filename": "none", "ioengine": "null", "size": "1m", "rw": "randread", "direct": 0}]}]});
    let (status, created) = server.post("/studies", &study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    let mut retry_of = Value::Null;
    for _ in 0..2 {
        retry_of = wait_until_measuring(&server, step, &retry_of).await;
        server = Program::start_real(server.kill().await).await?;
    }
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["steps"][step]["run"]["status"], "interrupted");
    Some((server, ended))
}

#[tokio::test]
async fn a_curve_continues_after_a_rate_that_was_interrupted_twice() {
    let curve = json!({"rates": [1000, 2000, 3000], "seconds": 2, "ramp_seconds": 0});
    let Some((server, ended)) = run_curve_with_two_kills(curve, 1).await else {
        return;
    };
    assert_eq!(ended["status"], "done", "{ended}");
    assert_eq!(ended["ended"], "the curve is complete");
    let results = server.get("/studies/1/procedure").await;
    let points = results["points"].as_array().unwrap();
    let of_rate = |rate: f64| {
        points
            .iter()
            .find(|point| point["offered"] == rate)
            .unwrap()
    };
    assert_eq!(of_rate(2000.0)["class"], "missing", "{results}");
    assert!(of_rate(3000.0)["achieved"].is_number(), "{results}");
}

#[tokio::test]
async fn a_curve_whose_last_rate_was_interrupted_twice_is_interrupted() {
    let curve = json!({"rates": [1000, 2000], "seconds": 2, "ramp_seconds": 0});
    let Some((_server, ended)) = run_curve_with_two_kills(curve, 1).await else {
        return;
    };
    assert_eq!(ended["status"], "interrupted", "{ended}");
    assert_eq!(ended["ended"], "the last rate has no result");
}

/// Without the probe, no rate can be derived.
#[tokio::test]
async fn a_curve_without_a_probe_is_interrupted() {
    let curve = json!({"seconds": 2, "ramp_seconds": 0});
    let Some((_server, ended)) = run_curve_with_two_kills(curve, 0).await else {
        return;
    };
    assert_eq!(ended["status"], "interrupted", "{ended}");
    assert_eq!(ended["steps"].as_array().unwrap().len(), 1);
}
