//! Studies with the maximum number of runs.

use crate::{
    program::{Program, TIMEOUT, job},
    real_runner,
    repeats::wait_for_end_of_study,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const RUNS: u64 = 1024;
/// Number of runs that end before the server is killed.
const BEFORE_KILL: usize = 3;

/// A sweep over two options.
fn sweep(job: &Value) -> Value {
    json!({"name": "large", "steps": [{"jobs": [job]}], "sweep": [
        {"option": "iodepth", "values": (1..=32).collect::<Vec<u32>>()},
        {"option": "bs", "values": (1..=32).map(|pages| format!("{}k", 4 * pages)).collect::<Vec<String>>()}]})
}

fn count(study: &Value, status: &str) -> usize {
    let steps = study["steps"].as_array().unwrap().iter();
    steps.filter(|step| step["run"]["status"] == status).count()
}

#[tokio::test]
async fn a_large_study_continues_after_a_kill_and_is_cancelled() {
    let server = Program::start().await;
    let (status, created) = server.post("/studies", &sweep(&job("cell", "20ms"))).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    assert_eq!(created["steps_total"], RUNS);
    let began = Instant::now();
    while count(&server.get("/studies/1").await, "done") < BEFORE_KILL {
        assert!(began.elapsed() < TIMEOUT, "no run has ended");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let server = server.kill_and_restart().await;
    let study = server.get("/studies/1").await;
    let ended = count(&study, "done") + count(&study, "interrupted");
    assert!(ended >= BEFORE_KILL && study["status"] == "running");
    // A run on another device does not wait for the study.
    let other = server
        .queue(crate::program::job_on("vdb", "other", "10ms"))
        .await;
    assert_eq!(server.wait_until_ended(other).await["status"], "done");
    let began = Instant::now();
    while count(&server.get("/studies/1").await, "done") <= ended {
        assert!(began.elapsed() < TIMEOUT, "the study does not continue");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (status, cancelled) = server.post("/studies/1/cancel", &json!(null)).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{cancelled}");
    let study = wait_for_end_of_study(&server, 1).await;
    let (done, cancelled) = (count(&study, "done"), count(&study, "cancelled"));
    let interrupted = count(&study, "interrupted");
    assert_eq!(
        (done + cancelled + interrupted) as u64,
        RUNS,
        "none is lost"
    );
    // No run was started twice. The last run may have started before its cancellation.
    let starts = server.starts().into_iter().filter(|job| job == "cell");
    assert!(starts.count() <= done + interrupted + 1);
}

/// Sends a request and prints how long it takes.
async fn time(server: &Program, name: &str, method: Method, path: &str, body: Option<&Value>) {
    let mut request = server.request(method, path);
    if let Some(body) = body {
        request = request.json(body);
    }
    let began = Instant::now();
    let response = request.send().await.unwrap();
    let status = response.status();
    assert!(status.is_success(), "{name}: {status}");
    let bytes = response.bytes().await.unwrap().len();
    eprintln!("{name}: {} ms, {bytes} bytes", began.elapsed().as_millis());
}

/// Four studies with 1,024 runs each. Three of them are cancelled.
///
/// `cargo test --release -p leadline --test server large_studies -- --ignored --nocapture`
#[tokio::test]
#[ignore = "benchmark"]
async fn requests_are_fast_alongside_large_studies() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let Some(server) = Program::start_real(directory).await else {
        return;
    };
    let mut cell = real_runner::read("100ms");
    cell["size"] = "4m".into();
    let study = sweep(&cell);
    let get = Method::GET;
    for _ in 0..3 {
        time(&server, "plan", Method::POST, "/studies/plan", Some(&study)).await;
    }
    for number in 1..=4 {
        time(&server, "submit", Method::POST, "/studies", Some(&study)).await;
        if number < 4 {
            let path = format!("/studies/{number}/cancel");
            time(&server, "cancel", Method::POST, &path, None).await;
        }
    }
    for _ in 0..3 {
        time(&server, "study", get.clone(), "/studies/4", None).await;
        time(&server, "list of runs", get.clone(), "/runs?limit=50", None).await;
        time(&server, "list of studies", get.clone(), "/studies", None).await;
    }
    let began = Instant::now();
    let server = Program::start_real(server.kill().await).await.unwrap();
    eprintln!("restart: {} ms", began.elapsed().as_millis());
    time(&server, "cancel", Method::POST, "/studies/4/cancel", None).await;
}
